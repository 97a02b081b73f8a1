#include "privacy/mechanisms/parameter_checks.h"

#include <cmath>

namespace sotto::privacy {

Status require_epsilon(double epsilon) {
  if (std::isfinite(epsilon) && epsilon > 0) return {};
  return bad_input(
      "epsilon is {}, must be a finite number above 0 (leave the mechanism out to run without privacy)",
      epsilon);
}

Status require_delta(double delta) {
  if (delta > 0 && delta < 1) return {};
  return bad_input("delta is {}, must lie strictly between 0 and 1 (use Laplace noise for delta 0)", delta);
}

Status require_padding(double probability) {
  if (probability >= 0 && probability < 1) return {};
  return bad_input("padding probability is {}, must be at least 0 and below 1: at 1 the release says nothing",
                   probability);
}

Status require_positive(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return {};
  return bad_input("{} is {}, must be a finite number above 0", what, value);
}

Status require_at_least(std::uint64_t value, std::uint64_t smallest, const char* what) {
  if (value >= smallest) return {};
  return bad_input("{} is {}, must be at least {}", what, value, smallest);
}

Status require_length(std::size_t length, std::uint64_t dimension, const char* what) {
  if (length == dimension) return {};
  return bad_input("{} has {} entries, the mechanism was made for {}", what, length, dimension);
}

}  // namespace sotto::privacy
