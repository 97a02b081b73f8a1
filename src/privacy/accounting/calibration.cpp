#include "privacy/accounting/calibration.h"

#include <cmath>
#include <string>

namespace sotto {

Result<double> smallest_noise(double epsilon, const EpsilonOfNoise& epsilon_of) {
  constexpr double tolerance = 1e-4, most_noise = 1e9, least_noise = 1e-6;
  if (!(epsilon > 0) || !std::isfinite(epsilon))
    return bad_input("the epsilon to reach must be a finite number above 0, not {}", epsilon);
  std::string refusal;  // why the last amount of noise could not be accounted for
  const auto enough = [&](double noise) {
    const auto holds = epsilon_of(noise);
    if (!holds) refusal = ": " + holds.error().message;
    return holds && *holds <= epsilon;
  };
  double high = 1;
  while (!enough(high)) {
    high *= 2;
    if (high > most_noise)
      return bad_input("no noise up to {:.0e} reaches epsilon {}{}", most_noise, epsilon, refusal);
  }
  double low = high / 2;
  while (low > least_noise && enough(low)) {
    high = low;
    low /= 2;
  }
  while (high > low * (1 + tolerance)) {
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace sotto
