#include "secagg/vectors/random_rotation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/vectors/hadamard.h"

namespace sotto::secagg {

namespace {

// values ← signs·values·factor; `step` names one of the two sign patterns.
void apply_signs(std::span<double> values, std::uint64_t seed, std::uint32_t step, double factor) {
  SeededRandom random(seed, Purpose::rotation, step);
  std::array<std::uint64_t, 64> words{};
  constexpr std::size_t block_size = 64 * words.size();
  for (std::size_t begin = 0; begin < values.size(); begin += block_size) {
    random.fill(words);
    const auto block = values.subspan(begin, std::min(block_size, values.size() - begin));
    for (std::size_t i = 0; i < block.size(); ++i)
      block[i] *= (words[i / 64] >> (i % 64) & 1) != 0 ? -factor : factor;
  }
}

}  // namespace

RandomRotation::RandomRotation(std::uint64_t dimension, std::uint64_t seed)
    : dimension_(dimension), seed_(seed), block_(std::bit_floor(dimension)) {}

Result<RandomRotation> RandomRotation::create(std::uint64_t dimension, std::uint64_t seed) {
  SOTTO_CHECK(privacy::require_at_least(dimension, 1, "dimension of the rotation"));
  return RandomRotation(dimension, seed);
}

std::vector<double> RandomRotation::signs(std::uint32_t step) const {
  std::vector<double> values(block_, 1);
  apply_signs(values, seed_, step, 1);
  return values;
}

Status RandomRotation::rotate(std::span<double> values) const {
  SOTTO_CHECK(privacy::require_length(values.size(), dimension_, "the vector to rotate"));
  const double factor = 1 / std::sqrt(static_cast<double>(block_));
  apply_signs(values.first(block_), seed_, 0, factor);
  hadamard(values.first(block_));
  if (block_ == dimension_) return {};
  apply_signs(values.last(block_), seed_, 1, factor);
  hadamard(values.last(block_));
  return {};
}

Status RandomRotation::rotate_back(std::span<double> values) const {
  SOTTO_CHECK(privacy::require_length(values.size(), dimension_, "the vector to rotate back"));
  const double factor = 1 / std::sqrt(static_cast<double>(block_));
  if (block_ != dimension_) {
    hadamard(values.last(block_));
    apply_signs(values.last(block_), seed_, 1, factor);
  }
  hadamard(values.first(block_));
  apply_signs(values.first(block_), seed_, 0, factor);
  return {};
}

double RandomRotation::entry_quantile(double probability) const {
  return std::min(1.0, std::sqrt(2 * std::log(2 / probability) / static_cast<double>(block_)));
}

}  // namespace sotto::secagg
