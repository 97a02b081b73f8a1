#include "blind/quantisation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::blind {

namespace {

// Of the entries of a cluster: so many may lie beyond what four bits hold.
constexpr double cut_share = 0.01;

double squared_norm(std::span<const std::int8_t> entries) {
  double sum = 0;
  for (const std::int8_t entry : entries) sum += static_cast<double>(entry) * entry;
  return sum;
}

void round_to_steps(std::span<const float> residual, float step, std::span<std::int8_t> out) {
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const float steps = std::nearbyint(residual[i] / step);
    out[i] = static_cast<std::int8_t>(
        std::clamp(steps, -static_cast<float>(item_most), static_cast<float>(item_most)));
  }
}

}  // namespace

float step_of(std::span<const float> residuals, const Parameters& parameters) {
  const std::size_t dimension = parameters.shape.dimension;
  if (residuals.empty()) return 1;
  double longest = 0;
  for (std::size_t first = 0; first < residuals.size(); first += dimension) {
    double sum = 0;
    for (const float number : residuals.subspan(first, dimension))
      sum += static_cast<double>(number) * number;
    longest = std::max(longest, std::sqrt(sum));
  }
  std::vector<float> sizes(residuals.size());
  std::transform(residuals.begin(), residuals.end(), sizes.begin(), [](float x) { return std::abs(x); });
  const auto cut =
      sizes.begin() + static_cast<std::ptrdiff_t>((1 - cut_share) * static_cast<double>(sizes.size() - 1));
  std::nth_element(sizes.begin(), cut, sizes.end());
  const double step = std::max(longest / parameters.item_norm, static_cast<double>(*cut) / item_most);
  return std::max(static_cast<float>(step), std::numeric_limits<float>::min());
}

void quantise_item(std::span<const float> residual, float step, const Parameters& parameters,
                   std::span<std::int8_t> out) {
  round_to_steps(residual, step, out);
  const double most = static_cast<double>(parameters.item_norm) * parameters.item_norm;
  while (squared_norm(out) > most) {
    step *= 1.02F;
    round_to_steps(residual, step, out);
  }
}

QuantisedUser quantise_user(std::span<const float> user, const Parameters& parameters) {
  QuantisedUser quantised{std::vector<std::int32_t>(user.size()), 1};
  std::vector<float> finite(user.begin(), user.end());
  float largest = std::numeric_limits<float>::min();
  for (float& number : finite) {
    number = std::abs(number) <= std::numeric_limits<float>::max() ? number : 0;
    largest = std::max(largest, std::abs(number));
  }
  double sum = 0;
  for (float& number : finite) {
    number /= largest;  // so that no square overflows
    sum += static_cast<double>(number) * number;
  }
  const double norm = std::sqrt(std::max(sum, 1e-30));
  const double scale = norm_before_rounding(parameters) / norm;
  for (std::size_t i = 0; i < finite.size(); ++i)
    quantised.entries[i] = static_cast<std::int32_t>(std::nearbyint(finite[i] * scale));
  quantised.scale = static_cast<float>(scale / largest);
  return quantised;
}

}  // namespace sotto::blind
