#include "blind/quantisation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sotto::blind {

namespace {

// Of the entries of a cluster: so many may lie beyond what four bits hold.
constexpr double cut_share = 0.01;
constexpr float taste_weight = 12;
constexpr int taste_passes = 2;

double squared_norm(std::span<const std::int8_t> entries) {
  double sum = 0;
  for (const std::int8_t entry : entries) sum += static_cast<double>(entry) * entry;
  return sum;
}

std::int8_t nearest_entry(float steps) {
  constexpr auto most = static_cast<float>(item_most);
  return static_cast<std::int8_t>(std::clamp(std::nearbyint(steps), -most, most));
}

void round_to_steps(std::span<const float> residual, std::span<const float> taste, float step,
                    std::span<std::int8_t> out) {
  float along = 0;  // δ·t
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const float steps = residual[i] / step;
    out[i] = nearest_entry(steps);
    along += (static_cast<float>(out[i]) - steps) * taste[i];
  }
  // Number by number, to where it makes up best for the errors of all others.
  for (int pass = 0; pass < taste_passes; ++pass) {
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const float steps = residual[i] / step;
      const float others = along - (static_cast<float>(out[i]) - steps) * taste[i];
      const float wanted = taste_weight * taste[i] / (1 + taste_weight * taste[i] * taste[i]);
      out[i] = nearest_entry(steps - wanted * others);
      along = others + (static_cast<float>(out[i]) - steps) * taste[i];
    }
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

void quantise_item(std::span<const float> residual, std::span<const float> taste, float step,
                   const Parameters& parameters, std::span<std::int8_t> out) {
  round_to_steps(residual, taste, step, out);
  const double most = static_cast<double>(parameters.item_norm) * parameters.item_norm;
  while (squared_norm(out) > most) {
    step *= 1.02F;
    round_to_steps(residual, taste, step, out);
  }
}

namespace {

// To the nearest whole number, for numbers below 2^51, by what a double has no room for: without a call.
double nearest_whole(double number) {
  constexpr double shift = 0x1.8p52;
  return (number + shift) - shift;
}

// The number, or 0 where it is not finite: by its bits, without a branch.
float finite_or_zero(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t exponent = bits >> 23 & 0xff;
  return std::bit_cast<float>(bits & (0U - ((exponent - 255) >> 31)));
}

}  // namespace

QuantisedUser quantise_user(std::span<const float> user, const Parameters& parameters) {
  QuantisedUser quantised{std::vector<std::int32_t>(user.size()), 1};
  double squares = 1e-56;  // so that the scale stays a float; the square of any float fits a double
  for (const float number : user) {
    const double finite = finite_or_zero(number);
    squares += finite * finite;
  }
  const double scale = norm_before_rounding(parameters) / std::sqrt(std::abs(squares));
  for (std::size_t i = 0; i < user.size(); ++i)
    quantised.entries[i] = static_cast<std::int32_t>(nearest_whole(finite_or_zero(user[i]) * scale));
  quantised.scale = static_cast<float>(scale);
  return quantised;
}

}  // namespace sotto::blind
