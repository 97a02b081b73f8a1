// The benchmarks of the modules without torch run on small sizes, and ours gives the baseline's answers.
#include "bench/benchmarks.h"

#include <gmock/gmock.h>

#include <cstdio>

namespace sotto::bench {
namespace {

using ::testing::HasSubstr;

TEST(NoiseBench, EveryRowIsFasterThanItsBaseline) {
  const auto rows = bench_noise(0.02);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->size(), 12U);
  for (const NoiseBenchRow& row : *rows) {
    EXPECT_GT(row.ours, 2 * row.baseline_rate) << row.noise << " " << row.sigma;
    EXPECT_NEAR(row.variance_ratio, 1, 0.07);
  }
}

TEST(BenchPld, AgreesWithTheRoundByRoundBaseline) {
  PldBenchSettings settings;
  settings.rounds = 20;
  settings.rate = 0.05;
  settings.repeats = 1;
  const auto bench = bench_pld(settings);
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_LE(bench->ours_lower, bench->ours_epsilon);
  EXPECT_GT(bench->ratio, 0);
}

TEST(BenchUnion, AnswersAgreeAndSparseIsSmaller) {
  const auto rows = bench_union();
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  for (const auto& row : *rows) {
    std::printf("%-42s %12.4g %-6s against %12.4g: %8.1f times\n", row.name.c_str(), row.ours,
                row.unit.c_str(), row.baseline, row.ratio);
    EXPECT_TRUE(row.unit != "bytes" || row.ratio > 10) << row.name;
  }
}

TEST(BenchServing, ComparesTheSameAnswersOnASmallPool) {
  const auto rows = bench_serving({.items = 1500, .graph_items = 500});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_GE(rows->size(), 6U);
  for (const BenchRow& row : *rows) EXPECT_GT(row.ours, 0) << row.name;
  EXPECT_THAT(bench_serving({.items = 0}).error().message, HasSubstr("choose 1 to"));
}

}  // namespace
}  // namespace sotto::bench
