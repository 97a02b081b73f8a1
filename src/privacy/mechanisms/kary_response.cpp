#include "privacy/mechanisms/kary_response.h"

#include <cmath>

#include "base/distributions.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

Result<KaryResponse> KaryResponse::create(double epsilon, std::uint64_t categories, Unit unit) {
  SOTTO_CHECK(require_epsilon(epsilon));
  SOTTO_CHECK(require_at_least(categories, 2, "number of categories"));
  if (epsilon < 1e-12)
    return bad_input("epsilon {} is below the precision of the response: use at least 1e-12", epsilon);
  const double keep = 1 / (1 + (static_cast<double>(categories) - 1) * std::exp(-epsilon));
  // 2^-50 covers the rounding errors of the line above.
  const auto keep_below = static_cast<std::uint64_t>(std::ldexp(keep * (1 - 0x1.0p-50), 64));
  return KaryResponse(epsilon, categories, unit, keep_below);
}

Result<std::uint64_t> KaryResponse::respond(std::uint64_t value, DeviceRandom random) const {
  if (value >= categories_) return bad_input("value {} is outside the {} categories", value, categories_);
  const bool keep = random.source()() < keep_below_;
  const std::uint64_t other = uniform_below(random.source(), categories_ - 1);
  return keep ? value : other + (other >= value ? 1 : 0);
}

double KaryResponse::keep_probability() const { return std::ldexp(static_cast<double>(keep_below_), -64); }

PrivacyEvent KaryResponse::event() const {
  return {.mechanism = RandomisedResponse{epsilon_, categories_},
          .adjacency = Adjacency::replace_one,
          .unit = unit_};
}

}  // namespace sotto
