// The benchmark runs, gets the expected answers, and the fast sampler is far ahead of the straightforward
// one.
#include <gtest/gtest.h>

#include "privacy/noise/bench_noise.h"

namespace sotto {
namespace {

TEST(NoiseBench, EveryRowIsFasterThanItsBaseline) {
  const auto rows = bench_noise(0.02);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->size(), 12U);
  for (const NoiseBenchRow& row : *rows) {
    EXPECT_GT(row.ours, 2 * row.baseline_rate) << row.noise << " " << row.sigma;
    EXPECT_NEAR(row.variance_ratio, 1, 0.07);
  }
}

}  // namespace
}  // namespace sotto
