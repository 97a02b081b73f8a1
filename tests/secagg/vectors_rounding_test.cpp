// Stochastic rounding: unbiased within its stated price, and never longer than the bound the guarantee rests
// on.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "secagg/vectors/rounding_kernels.h"
#include "secagg/vectors/stochastic_rounding.h"

namespace sotto::secagg {
namespace {

using How = StochasticRounding::How;

std::vector<double> vector_of_norm(std::size_t dimension, double norm, RandomSource& random) {
  std::vector<double> values(dimension);
  double squares = 0;
  for (double& value : values) {
    value = normal(random);
    squares += value * value;
  }
  for (double& value : values) value *= norm / std::sqrt(squares);
  return values;
}

std::uint64_t squares_of(const std::vector<std::int32_t>& values) {
  std::uint64_t squares = 0;
  for (const std::int32_t value : values) squares += static_cast<std::uint64_t>(std::int64_t{value} * value);
  return squares;
}

// Always the same word: rounds everything up, or everything down.
class ConstantWords final : public RandomSource {
 public:
  explicit ConstantWords(std::uint64_t word) : word_(word) {}
  void fill(std::span<std::uint64_t> out) override {
    calls += 1;
    std::fill(out.begin(), out.end(), word_);
  }
  int calls = 0;

 private:
  std::uint64_t word_;
};

RC_GTEST_PROP(StochasticRounding, NeverExceedsItsBounds, ()) {
  const auto dimension = *rc::gen::inRange<std::uint64_t>(1, 3000);
  const double norm = std::exp(*rc::gen::inRange(-300, 1000) / 100.0);
  const auto entry_bound = *rc::gen::inRange<std::uint64_t>(1, 40000);
  const double beta = *rc::gen::inRange(1, 99) / 100.0;
  SeededRandom random(*rc::gen::arbitrary<std::uint32_t>(), Purpose::test);
  const auto rounding = *StochasticRounding::create(
      {.dimension = dimension, .norm = norm, .entry_bound = entry_bound, .beta = beta});
  const auto values = vector_of_norm(dimension, norm, random);
  std::vector<std::int32_t> rounded(dimension);
  RC_ASSERT(rounding.round(values, rounded, random).has_value());
  RC_ASSERT(squares_of(rounded) <= rounding.squared_bound());
  RC_ASSERT(static_cast<double>(rounding.squared_bound()) <=
            std::pow(rounding.norm_bound(), 2) * (1 + 1e-15));
  for (std::size_t i = 0; i < dimension; ++i) {
    RC_ASSERT(static_cast<std::uint64_t>(std::abs(std::int64_t{rounded[i]})) <= entry_bound);
    if (std::fabs(values[i]) < static_cast<double>(entry_bound)) {
      RC_ASSERT(std::fabs(rounded[i] - values[i]) < 1 + 1e-9);
    }
  }
}

TEST(StochasticRounding, BoundIsTheFormula) {
  const auto tight = *StochasticRounding::create({.dimension = 400, .norm = 30, .entry_bound = 1000});
  EXPECT_EQ(tight.squared_bound(), 900U + 100 + (30 + 10));
  const auto short_vector =
      *StochasticRounding::create({.dimension = 4, .norm = 0.5, .entry_bound = 1000, .beta = 1e-9});
  EXPECT_EQ(short_vector.squared_bound(), 6U);  // (0.5 + 2)²
}

TEST(StochasticRounding, MeanIsTheVectorWhereNothingIsThrownAway) {
  // (Δ + √d)² always holds, and with such a β it is the smaller one: no draw is rejected.
  constexpr std::size_t dimensions = 50;
  constexpr int draw_count = 40000;
  SeededRandom random(5, Purpose::test);
  const auto rounding =
      *StochasticRounding::create({.dimension = dimensions, .norm = 20, .entry_bound = 100, .beta = 1e-200});
  const auto values = vector_of_norm(dimensions, 19.9, random);
  std::vector<std::int32_t> rounded(dimensions);
  std::vector<double> sums(dimensions);
  for (int i = 0; i < draw_count; ++i) {
    ASSERT_EQ(*rounding.round(values, rounded, random), How::at_random);
    for (std::size_t j = 0; j < dimensions; ++j) sums[j] += rounded[j];
  }
  // The standard error is at most 1/2/√draws; 50 coordinates within 5.7 of it: false alarm below 1e-6.
  for (std::size_t j = 0; j < dimensions; ++j)
    EXPECT_NEAR(sums[j] / draw_count, values[j], 5.7 / 2 / std::sqrt(draw_count));
}

class CountedWords final : public RandomSource {
 public:
  explicit CountedWords(RandomSource& source) : source_(source) {}
  void fill(std::span<std::uint64_t> out) override {
    calls += 1;
    source_.fill(out);
  }
  int calls = 0;

 private:
  RandomSource& source_;
};

TEST(StochasticRounding, ConditioningMovesTheMeanByNoMoreThanStated) {
  // All fractions ½ and the vector at its full norm: draws are rejected, and only long ones.
  constexpr std::size_t dimensions = 64;  // one call of fill() per draw
  constexpr int rounding_count = 40000;
  SeededRandom seeded(6, Purpose::test);
  CountedWords random(seeded);
  const std::vector<double> values(dimensions, 1.5);
  const auto rounding =
      *StochasticRounding::create({.dimension = dimensions, .norm = 12, .entry_bound = 9, .beta = 0.9});
  std::vector<std::int32_t> rounded(dimensions);
  double offset = 0;
  for (int i = 0; i < rounding_count; ++i) {
    ASSERT_EQ(*rounding.round(values, rounded, random), How::at_random);
    for (std::size_t j = 0; j < dimensions; ++j) offset += rounded[j] - values[j];
  }
  const double rejected = 1 - static_cast<double>(rounding_count) / random.calls;
  EXPECT_GT(rejected, 0.05);
  EXPECT_LT(rejected, 0.9);
  // By symmetry all coordinates move alike, so the norm of the shift is √d times that of one.
  const double shift = offset / rounding_count / dimensions;
  EXPECT_LT(shift, -0.005);                      // there is a price,
  EXPECT_GT(shift, -rejected / (1 - rejected));  // within what is stated
}

TEST(StochasticRounding, FallsBackTowardsZeroWhenEveryDrawIsTooLong) {
  const auto rounding = *StochasticRounding::create({.dimension = 100, .norm = 10, .entry_bound = 50});
  std::vector<double> values(100, 0.9);
  values[0] = -1.7;
  std::vector<std::int32_t> rounded(100);
  ConstantWords up(~std::uint64_t{0});  // rounds 0.9 to 1, a hundred times; and −1.7 to −1
  // Norm² 100 with bound 10² + 25 + 15: within. Twice the entries are not.
  ASSERT_EQ(*rounding.round(values, rounded, up), How::at_random);
  std::vector<double> dense(400, 0.4999);
  std::vector<std::int32_t> out(400);
  const auto strict = *StochasticRounding::create({.dimension = 400, .norm = 10, .entry_bound = 50});
  EXPECT_EQ(strict.squared_bound(), 100U + 100 + 20);
  ASSERT_EQ(*strict.round(dense, out, up), How::towards_zero);
  EXPECT_EQ(squares_of(out), 0U);
}

TEST(StochasticRounding, RefusesWhatIsLongerThanPromisedOrNotANumber) {
  const auto rounding = *StochasticRounding::create({.dimension = 3, .norm = 10, .entry_bound = 50});
  std::vector<std::int32_t> rounded(3);
  SeededRandom random(7, Purpose::test);
  for (const double bad : {10.01, 1e300, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const std::vector<double> values{0, bad, 0};
    EXPECT_FALSE(rounding.round(values, rounded, random).has_value()) << bad;
  }
  EXPECT_FALSE(rounding.round(std::vector<double>(2), rounded, random).has_value());
}

TEST(StochasticRounding, RefusesSettingsWithoutAProof) {
  for (const StochasticRounding::Settings& bad : std::vector<StochasticRounding::Settings>{
           {.dimension = 0, .norm = 1, .entry_bound = 1},
           {.dimension = 1, .norm = 0, .entry_bound = 1},
           {.dimension = 1, .norm = NAN, .entry_bound = 1},
           {.dimension = 1, .norm = 0x1.0p31, .entry_bound = 1},
           {.dimension = std::uint64_t{1} << 62, .norm = 1, .entry_bound = 1},
           {.dimension = 1, .norm = 1, .entry_bound = 0},
           {.dimension = 1, .norm = 1, .entry_bound = 1, .beta = 0},
           {.dimension = 1, .norm = 1, .entry_bound = 1, .beta = 1}}) {
    EXPECT_FALSE(StochasticRounding::create(bad).has_value());
  }
}

TEST(RoundingKernel, EqualsTheReadableLoop) {
  SeededRandom random(8, Purpose::test);
  for (const std::size_t length : {1UL, 7UL, 64UL, 1000UL}) {
    std::vector<double> values(length);
    std::vector<std::uint32_t> uniform(length);
    std::vector<std::int32_t> fast(length), slow(length);
    for (std::size_t i = 0; i < length; ++i) {
      values[i] = normal(random) * std::exp(static_cast<double>(i % 20));
      uniform[i] = static_cast<std::uint32_t>(random());
    }
    std::uint64_t squares = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const double up = std::ldexp(static_cast<double>(uniform[i] >> 1), -31);
      slow[i] = static_cast<std::int32_t>(std::clamp(std::floor(values[i] + up), -1e6, 1e6));
      squares += static_cast<std::uint64_t>(std::int64_t{slow[i]} * slow[i]);
    }
    EXPECT_EQ(round_randomly(values.data(), uniform.data(), length, 1e6, fast.data()), squares);
    EXPECT_EQ(fast, slow);
  }
}

}  // namespace
}  // namespace sotto::secagg
