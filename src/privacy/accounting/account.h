#pragma once
// The front door: from events to a Guarantee that names its assumptions. Pure functions, safe from several
// threads.

#include <span>

#include "privacy/accounting/event.h"
#include "privacy/accounting/pld_accountant.h"

namespace sotto {

// ε of all events together at δ, by the method asked for. Against Adversary::server events must be unsampled:
// it knows who takes part. Method::pure_composition ignores delta and answers with δ = 0.
Result<Guarantee> account(std::span<const PrivacyEvent> events, double delta, Method method,
                          Adversary adversary, const PldTarget& target = {});

// The smallest ε among the methods that apply (closed form, PLD, RDP).
Result<Guarantee> account_best(std::span<const PrivacyEvent> events, double delta, Adversary adversary);

}  // namespace sotto
