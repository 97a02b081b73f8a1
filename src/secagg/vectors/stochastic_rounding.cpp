#include "secagg/vectors/stochastic_rounding.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/vectors/rounding_kernels.h"

namespace sotto::secagg {

namespace {

// Every draw is within Δ + √d up to rounding errors: squares sum to less than 2^63.
constexpr double largest_norm = 0x1.0p31;

double inflated_square(double norm, double dimension, double beta) {
  const double spread = std::sqrt(2 * std::log(1 / beta));
  const double likely = norm * norm + dimension / 4 + spread * (norm + std::sqrt(dimension) / 2);
  const double certain = norm + std::sqrt(dimension);
  return std::min(likely, certain * certain);
}

constexpr std::size_t piece = 1024;  // values at a time

std::uint64_t round_towards_zero(const StochasticRounding::Values& values, double bound,
                                 std::span<std::int32_t> rounded) {
  std::array<double, piece> part;
  std::uint64_t squares = 0;
  for (std::size_t begin = 0; begin < rounded.size(); begin += piece) {
    const std::size_t count = std::min(piece, rounded.size() - begin);
    values(begin, std::span(part).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto whole = static_cast<std::int64_t>(std::trunc(std::clamp(part[i], -bound, bound)));
      rounded[begin + i] = static_cast<std::int32_t>(whole);
      squares += static_cast<std::uint64_t>(whole * whole);
    }
  }
  explicit_bzero(part.data(), sizeof part);
  return squares;
}

}  // namespace

Result<StochasticRounding> StochasticRounding::create(const Settings& settings) {
  SOTTO_CHECK(privacy::require_at_least(settings.dimension, 1, "dimension"));
  SOTTO_CHECK(privacy::require_positive(settings.norm, "norm to round, in grid steps,"));
  SOTTO_CHECK(privacy::require_at_least(settings.entry_bound, 1, "largest entry"));
  if (!(settings.beta > 0 && settings.beta < 1)) {
    return bad_input("beta of the rounding is {}, must lie strictly between 0 and 1", settings.beta);
  }
  const auto dimension = static_cast<double>(settings.dimension);
  if (!(settings.norm + std::sqrt(dimension) < largest_norm)) {
    return bad_input("a norm of {} grid steps in {} coordinates is beyond 2^31: use a coarser grid",
                     settings.norm, settings.dimension);
  }
  const double square = std::floor(inflated_square(settings.norm, dimension, settings.beta));
  Settings limited = settings;
  limited.entry_bound = std::min(settings.entry_bound, static_cast<std::uint64_t>(largest_norm) - 1);
  return StochasticRounding(limited, static_cast<std::uint64_t>(square));
}

double StochasticRounding::norm_bound() const {
  return std::nextafter(std::sqrt(static_cast<double>(squared_bound_)), HUGE_VAL);
}

StochasticRounding::Squares StochasticRounding::draw(const Values& values, std::span<std::int32_t> rounded,
                                                     RandomSource& random, bool again) const {
  std::array<double, piece> part;
  std::array<std::uint64_t, piece / 2> words;
  std::array<std::uint32_t, piece> uniform;
  Squares squares;
  for (std::size_t begin = 0; begin < rounded.size(); begin += piece) {
    const std::size_t count = std::min(piece, rounded.size() - begin);
    values(begin, std::span(part).first(count));
    squares.values += sum_of_squares(part.data(), count);
    if (squares.rounded > squared_bound_) continue;  // rejected whatever follows
    random.fill(std::span(words).first((count + 1) / 2));
    std::memcpy(uniform.data(), words.data(), sizeof uniform);
    squares.rounded += round_randomly(part.data(), uniform.data(), count,
                                      static_cast<double>(settings_.entry_bound), &rounded[begin]);
    if (again && squares.rounded > squared_bound_) break;
  }
  explicit_bzero(part.data(), sizeof part);
  return squares;
}

Result<StochasticRounding::How> StochasticRounding::round(std::span<const double> values,
                                                          std::span<std::int32_t> rounded,
                                                          RandomSource& random) const {
  SOTTO_CHECK(privacy::require_length(values.size(), settings_.dimension, "the vector to round"));
  return round(
      [&](std::size_t begin, std::span<double> part) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), part.size(), part.begin());
      },
      rounded, random);
}

Result<StochasticRounding::How> StochasticRounding::round(const Values& values,
                                                          std::span<std::int32_t> rounded,
                                                          RandomSource& random) const {
  SOTTO_CHECK(privacy::require_length(rounded.size(), settings_.dimension, "the rounded vector"));
  const Squares first = draw(values, rounded, random, false);
  // Keeps sums of squares from overflowing; the bound itself is checked in whole numbers after rounding.
  if (!(first.values <= settings_.norm * settings_.norm * (1 + 1e-6)))
    return bad_input("a vector of norm {} cannot be rounded within {}: clip it first",
                     std::sqrt(first.values), settings_.norm);
  if (first.rounded <= squared_bound_) return How::at_random;
  for (int tries = 1; tries < most_tries; ++tries) {
    if (draw(values, rounded, random, true).rounded <= squared_bound_) return How::at_random;
  }
  if (round_towards_zero(values, static_cast<double>(settings_.entry_bound), rounded) <= squared_bound_) {
    return How::towards_zero;
  }
  std::fill(rounded.begin(), rounded.end(), 0);
  return How::to_zero;
}

}  // namespace sotto::secagg
