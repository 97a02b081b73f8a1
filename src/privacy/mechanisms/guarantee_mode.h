#pragma once
// What a mechanism says about itself: the number its paper prints, and what really holds.

#include <optional>
#include <string>

#include "privacy/accounting/event.h"

namespace sotto {

enum class GuaranteeMode {
  paper,  // does what the paper does; the claim and the truth are printed side by side
  sound,  // the flaw repaired; claim and truth agree
};

struct MechanismStatement {
  double claimed_epsilon = 0;
  double claimed_delta = 0;
  // What the accountant may use for one release. Nothing: no differential privacy at all.
  std::optional<PrivacyEvent> holds;
  std::string why;  // one line for people, when claim and truth differ
};

}  // namespace sotto
