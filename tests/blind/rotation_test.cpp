#include "blind/rotation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto::blind {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(BlindRotation, KeepsEveryProduct) {
  for (const std::size_t d : {1U, 2U, 6U, 64U, 100U, 401U}) {
    std::vector<float> rows(2 * d);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(static_cast<float>(i * i));
    const auto turned = rotated(rows, d);
    const auto both = std::span<const float>(rows), after = std::span<const float>(turned);
    for (const std::size_t other : {std::size_t{0}, d})
      EXPECT_NEAR(dot(after.first(d), after.subspan(other, d)), dot(both.first(d), both.subspan(other, d)),
                  1e-4 * static_cast<double>(d));
  }
}

// An item that is large in one number, as the best ones are, is large in none.
TEST(BlindRotation, SpreadsWhatStandsInOneNumberOverAll) {
  constexpr std::size_t d = 64;
  for (std::size_t i = 0; i < d; ++i) {
    std::vector<float> row(d);
    row[i] = 1;
    for (const float number : rotated(row, d)) EXPECT_LE(std::abs(number), std::sqrt(2.0F / d) + 1e-6F);
  }
  const std::vector<float> flat(d, 1);
  const auto turned = rotated(flat, d);
  EXPECT_LT(*std::max_element(turned.begin(), turned.end()), 4);
}

}  // namespace
}  // namespace sotto::blind
