#pragma once
// Refusals that every mechanism shares. Each message says what is wrong and what is allowed; NaN is always
// refused.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "privacy/accounting/event.h"

namespace sotto::privacy {

// What a mechanism says about itself: the number its paper prints, and what really holds.
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

Status require_epsilon(double epsilon);                   // finite, above 0
Status require_delta(double delta);                       // strictly between 0 and 1
Status require_padding(double probability);               // 0 <= p < 1: with p = 1 nothing is left to release
Status require_positive(double value, const char* what);  // finite, above 0
Status require_at_least(std::uint64_t value, std::uint64_t smallest, const char* what);
Status require_length(std::size_t length, std::uint64_t dimension, const char* what);

}  // namespace sotto::privacy
