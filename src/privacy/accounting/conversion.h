#pragma once
// Restating events and guarantees for another adjacency or unit, where a theorem allows it. Everything else
// is an error that says why: an ε must not change its meaning silently.

#include "privacy/accounting/event.h"

namespace sotto {

// Replacing a unit is removing one and adding another: sensitivities double (triangle inequality), pure ε
// doubles, ρ quadruples (group privacy of two). Unsampled add_remove events only; replace_one events pass
// unchanged.
Result<PrivacyEvent> to_replace_one(const PrivacyEvent& event);

// Group privacy: k·ε and δ·(1 + e^ε + … + e^{(k−1)ε}) for k units that change together. Not tight.
Result<Guarantee> for_group(const Guarantee& guarantee, std::uint64_t size);

// for_group(2) of an add_remove guarantee is a replace_one guarantee, whatever was sampled inside.
Result<Guarantee> to_replace_one(const Guarantee& guarantee);

// Replacing one click is replacing one impression is replacing one user: a replace_one event or guarantee for
// the larger unit holds for the smaller one as it stands.
Result<PrivacyEvent> to_smaller_unit(const PrivacyEvent& event, Unit unit);
Result<Guarantee> to_smaller_unit(const Guarantee& guarantee, Unit unit);

}  // namespace sotto
