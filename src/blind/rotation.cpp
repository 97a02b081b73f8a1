#include "blind/rotation.h"

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace sotto::blind {

namespace {

constexpr std::uint64_t sign_seed = 20240229;

// [d, d], row by row.
std::vector<float> rotation_matrix(std::size_t dimension) {
  SeededRandom random(sign_seed, Purpose::initialisation);
  std::vector<double> signs(dimension);
  for (double& sign : signs) sign = random() % 2 == 0 ? 1 : -1;
  const auto d = static_cast<double>(dimension);
  // cos(π·m/2d) repeats after 4d.
  std::vector<double> cosines(4 * dimension);
  for (std::size_t m = 0; m < cosines.size(); ++m)
    cosines[m] = std::cos(std::numbers::pi * static_cast<double>(m) / (2 * d));
  std::vector<float> matrix(dimension * dimension);
  for (std::size_t row = 0; row < dimension; ++row) {
    const double length = std::sqrt((row == 0 ? 1 : 2) / d);
    for (std::size_t i = 0; i < dimension; ++i)
      matrix[row * dimension + i] =
          static_cast<float>(length * signs[i] * cosines[(2 * i + 1) * row % cosines.size()]);
  }
  return matrix;
}

}  // namespace

std::vector<float> rotated(std::span<const float> rows, std::size_t dimension) {
  const std::vector<float> matrix = rotation_matrix(dimension);
  std::vector<float> turned(rows.size());
  for (std::size_t first = 0; first < rows.size(); first += dimension) {
    for (std::size_t row = 0; row < dimension; ++row) {
      float sum = 0;
      for (std::size_t i = 0; i < dimension; ++i) sum += matrix[row * dimension + i] * rows[first + i];
      turned[first + row] = sum;
    }
  }
  return turned;
}

}  // namespace sotto::blind
