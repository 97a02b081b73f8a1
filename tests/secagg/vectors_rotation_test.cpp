// The random rotation: equal to the matrix it stands for, invertible, and it spreads.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "secagg/vectors/hadamard.h"
#include "secagg/vectors/random_rotation.h"

namespace sotto::secagg {
namespace {

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

TEST(Hadamard, EqualsTheMatrixByItsDefinition) {
  SeededRandom random(1, Purpose::test);
  for (std::size_t length = 1; length <= 1024; length *= 2) {
    std::vector<double> values(length), slow(length);
    for (double& value : values)
      value = static_cast<double>(random() >> 44) - 0x1.0p19;  // whole: sums are exact
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = 0; j < length; ++j)
        slow[i] += std::popcount(i & j) % 2 == 0 ? values[j] : -values[j];
    }
    hadamard(values);
    ASSERT_EQ(values, slow) << length;
  }
}

TEST(Hadamard, TwiceIsTheLengthAlsoBeyondTheCache) {
  SeededRandom random(2, Purpose::test);
  for (const std::size_t length : {std::size_t{1} << 13, std::size_t{1} << 14, std::size_t{1} << 17}) {
    std::vector<double> values(length);
    for (double& value : values) value = static_cast<double>(random() >> 54);
    std::vector<double> twice = values;
    hadamard(twice);
    // Row 5 by its definition: the outer levels are in the right order.
    double fifth = 0;
    for (std::size_t j = 0; j < length; ++j)
      fifth += std::popcount(j & (length / 2 + 5)) % 2 == 0 ? values[j] : -values[j];
    ASSERT_EQ(twice[length / 2 + 5], fifth);
    hadamard(twice);
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(twice[i], values[i] * static_cast<double>(length));
  }
}

RC_GTEST_PROP(RandomRotation, KeepsNormsAndTurnsBack, ()) {
  const auto dimension = *rc::gen::inRange<std::size_t>(1, 3000);
  SeededRandom random(*rc::gen::arbitrary<std::uint32_t>(), Purpose::test);
  std::vector<double> values(dimension);
  for (double& value : values) value = normal(random);
  const auto rotation = *RandomRotation::create(dimension, *rc::gen::arbitrary<std::uint64_t>());
  auto turned = values;
  RC_ASSERT(rotation.rotate(turned).has_value());
  RC_ASSERT(std::fabs(norm(turned) - norm(values)) < 1e-10 * norm(values));
  RC_ASSERT(rotation.rotate_back(turned).has_value());
  for (std::size_t i = 0; i < dimension; ++i)
    RC_ASSERT(std::fabs(turned[i] - values[i]) < 1e-12 * norm(values));
}

TEST(RandomRotation, SpreadsASingleEntryOverTheVectorOfAnyLength) {
  for (const std::size_t dimension : {1024UL, 1025UL, 1500UL, 2047UL}) {
    const auto rotation = *RandomRotation::create(dimension, 7);
    for (const std::size_t hot : {std::size_t{0}, dimension / 2, dimension - 1}) {
      std::vector<double> values(dimension);
      values[hot] = 1;
      ASSERT_TRUE(rotation.rotate(values).has_value());
      // Over the signs, one of 2047 entries exceeds this with probability below 1e-6.
      const double limit = rotation.entry_quantile(1e-6 / 2048);
      for (const double value : values) ASSERT_LT(std::fabs(value), limit) << dimension << ", entry " << hot;
      EXPECT_LT(limit, 0.25);
    }
  }
}

TEST(RandomRotation, DependsOnTheSeed) {
  std::vector<double> first(100, 1.0), second = first, again = first;
  ASSERT_TRUE(RandomRotation::create(100, 1)->rotate(first).has_value());
  ASSERT_TRUE(RandomRotation::create(100, 2)->rotate(second).has_value());
  ASSERT_TRUE(RandomRotation::create(100, 1)->rotate(again).has_value());
  EXPECT_NE(first, second);
  EXPECT_EQ(first, again);
}

TEST(RandomRotation, RefusesOtherLengths) {
  EXPECT_FALSE(RandomRotation::create(0, 1).has_value());
  std::vector<double> short_one(99);
  EXPECT_FALSE(RandomRotation::create(100, 1)->rotate(short_one).has_value());
  EXPECT_FALSE(RandomRotation::create(100, 1)->rotate_back(short_one).has_value());
}

}  // namespace
}  // namespace sotto::secagg
