#include "privacy/noise/grid_vector.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto {

std::vector<double> GridVector::reals() const {
  std::vector<double> values(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) values[i] = static_cast<double>(steps[i]) * step;
  return values;
}

double grid_step_for(double noise_scale) {
  int exponent = 0;
  std::frexp(noise_scale, &exponent);  // 2^(exponent-1) <= noise_scale < 2^exponent
  return std::ldexp(1.0, exponent - 20);
}

Result<GridVector> snap(std::span<const double> values, double step) {
  GridVector snapped{step, std::vector<std::int64_t>(values.size())};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double steps = std::nearbyint(values[i] / step);
    if (!(std::fabs(steps) < 0x1.0p52)) {
      return bad_input("coordinate {} is {}, which no grid of step {} holds: clip the vector first", i,
                       values[i], step);
    }
    snapped.steps[i] = static_cast<std::int64_t>(steps);
  }
  return snapped;
}

double snapping_l1_charge(double step, std::uint64_t dimension) {
  return step * static_cast<double>(dimension);
}
double snapping_l2_charge(double step, std::uint64_t dimension) {
  return step * std::sqrt(static_cast<double>(dimension));
}

void add_noise(GridVector& vector, const GridNoise& noise, RandomSource& random) {
  std::array<std::int32_t, 1024> buffer;
  for (std::size_t done = 0; done < vector.steps.size(); done += buffer.size()) {
    const auto chunk = std::span(buffer).first(std::min(buffer.size(), vector.steps.size() - done));
    noise.fill(chunk, random);
    for (std::size_t i = 0; i < chunk.size(); ++i) vector.steps[done + i] += chunk[i];
  }
  explicit_bzero(buffer.data(), sizeof buffer);  // who knows the noise knows the value
}

}  // namespace sotto
