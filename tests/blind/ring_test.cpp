#include "blind/ring.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "blind/public_matrix.h"

namespace sotto::blind {
namespace {

RingWords random_words(std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  RingWords words;
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

std::vector<std::int32_t> random_numbers(std::uint64_t seed, std::size_t count, std::int32_t most) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::int32_t> numbers(count);
  for (std::int32_t& number : numbers)
    number = static_cast<std::int32_t>(random() % (2U * static_cast<unsigned>(most) + 1)) - most;
  return numbers;
}

// As the definition says: X^1024 = -1.
RingWords slow_product(const RingWords& left, const std::vector<std::int32_t>& right) {
  RingWords product{};
  for (std::size_t i = 0; i < ring_degree; ++i) {
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::uint32_t term = left[i] * static_cast<std::uint32_t>(right[j]);
      std::uint32_t& sum = product[(i + j) % ring_degree];
      sum += i + j < ring_degree ? term : 0U - term;
    }
  }
  return product;
}

RingWords fast_product(const RingWords& left, const std::vector<std::int32_t>& right) {
  RingTransform first, second, sum{};
  transform(std::span<const std::uint32_t>(left), first);
  transform(std::span<const std::int32_t>(right), second);
  add_product(sum, first, second);
  RingWords product;
  transform_back(sum, product);
  return product;
}

TEST(Ring, ProductsAreThoseOfTheDefinition) {
  for (const std::int32_t most : {1, 7, 400}) {
    const RingWords left = random_words(static_cast<std::uint64_t>(most));
    const auto right = random_numbers(3, ring_degree, most);
    EXPECT_EQ(fast_product(left, right), slow_product(left, right));
  }
  const auto few = random_numbers(4, 100, 7);
  EXPECT_EQ(fast_product(random_words(9), few), slow_product(random_words(9), few));
}

TEST(Ring, LargestNumbersDoNotOverflow) {
  RingWords all;
  all.fill(0xffffffff);
  for (const std::int32_t sign : {1, -1}) {
    const std::vector<std::int32_t> most(ring_degree, sign * (1 << 19));
    EXPECT_EQ(fast_product(all, most), slow_product(all, most));
  }
}

// What the hint stands on: Σ (a·x)_j y_j = Σ (a*·y)_j x_j.
TEST(Ring, TheAdjointMovesAFactorToTheOtherSide) {
  const RingWords a = random_words(1);
  const auto x = random_numbers(2, ring_degree, 300), y = random_numbers(3, ring_degree, 7);
  const RingWords left = slow_product(a, x), right = slow_product(adjoint(a), y);
  std::uint32_t on_left = 0, on_right = 0;
  for (std::size_t j = 0; j < ring_degree; ++j) {
    on_left += left[j] * static_cast<std::uint32_t>(y[j]);
    on_right += right[j] * static_cast<std::uint32_t>(x[j]);
  }
  EXPECT_EQ(on_left, on_right);
}

TEST(PublicMatrix, IsTheSameForEverybodyAndAnotherForEveryShape) {
  const Shape shape{64, 40, 40, 1};
  const auto matrix = public_matrix(shape);
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->size(), 3U);
  EXPECT_EQ(*matrix, *public_matrix(shape));
  EXPECT_EQ(matrix->front(), public_matrix({64, 40, 7, 3})->front());  // rows and probes are no part of it
  EXPECT_NE(matrix->front(), public_matrix({64, 41, 40, 1})->front());
  double sum = 0;
  for (const RingWords& words : *matrix)
    for (const std::uint32_t word : words) sum += word / 4294967296.0;
  EXPECT_NEAR(sum / (3 * ring_degree), 0.5, 0.03);
}

}  // namespace
}  // namespace sotto::blind
