#include "metrics/mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"

namespace sotto::metrics {
namespace {

TEST(MeanAndError, IsWhatPaperAndPencilGive) {
  const double values[] = {1, 2, 3, 4};  // deviations squared sum to 5: sqrt(5/3)/2
  EXPECT_DOUBLE_EQ(mean_and_error(values).mean, 2.5);
  EXPECT_NEAR(mean_and_error(values).error, 0.6454972, 1e-7);
  EXPECT_DOUBLE_EQ(mean_and_error(std::span(values).first(1)).mean, 1);
  EXPECT_TRUE(std::isnan(mean_and_error(std::span(values).first(1)).error));
  EXPECT_TRUE(std::isnan(mean_and_error({}).mean));
}

std::optional<ImpressionMetrics> metrics_of_index(std::size_t index) {
  if (index % 7 == 3) return std::nullopt;
  SeededRandom random(5, Purpose::test, 0, static_cast<std::uint32_t>(index));
  return ImpressionMetrics{uniform01(random), uniform01(random), uniform01(random), uniform01(random)};
}

MeanImpressionMetrics mean_of(std::size_t n) {
  return sum_in_chunks<ImpressionMetricsSum>(
             n,
             [](std::size_t begin, std::size_t end, ImpressionMetricsSum& sum) {
               for (std::size_t i = begin; i < end; ++i) sum.add(metrics_of_index(i));
             })
      .mean();
}

// Restores the process-wide thread count.
class MetricsSum : public ::testing::Test {
 protected:
  void TearDown() override { set_thread_count(threads_); }
  int threads_ = thread_count();
};

TEST_F(MetricsSum, IsBitEqualForAnyNumberOfThreads) {
  set_thread_count(1);
  const auto serial = mean_of(10'000);
  for (const int threads : {2, 3, 8}) {
    set_thread_count(threads);
    const auto parallel = mean_of(10'000);
    EXPECT_EQ(parallel.mean.auc, serial.mean.auc);
    EXPECT_EQ(parallel.mean.mrr, serial.mean.mrr);
    EXPECT_EQ(parallel.mean.ndcg5, serial.mean.ndcg5);
    EXPECT_EQ(parallel.mean.ndcg10, serial.mean.ndcg10);
    EXPECT_EQ(parallel.counted, serial.counted);
  }
}

TEST_F(MetricsSum, CountsEveryIndexOnceAndLeavesOutThoseWithoutAValue) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{128},
                              std::size_t{129}, std::size_t{1000}}) {
    const auto mean = mean_of(n);
    std::uint64_t left_out = 0;
    double auc = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto one = metrics_of_index(i);
      if (one)
        auc += one->auc;
      else
        ++left_out;
    }
    EXPECT_EQ(mean.left_out, left_out);
    EXPECT_EQ(mean.counted, n - left_out);
    EXPECT_NEAR(mean.mean.auc * static_cast<double>(mean.counted), auc, 1e-9);
  }
}

TEST_F(MetricsSum, OfNothingIsZeroNotNaN) {
  ImpressionMetricsSum impressions;
  impressions.add(std::nullopt);
  EXPECT_EQ(impressions.mean().mean.auc, 0.0);
  EXPECT_EQ(impressions.mean().left_out, 1U);
  EXPECT_EQ(HeldOutMetricsSum().mean().hits[0], 0.0);
}

TEST_F(MetricsSum, AveragesHeldOutMetricsOverUsers) {
  const auto sum = sum_in_chunks<HeldOutMetricsSum>(
      10,
      [](std::size_t begin, std::size_t end, HeldOutMetricsSum& part) {
        for (std::size_t user = begin; user < end; ++user)
          part.add(held_out_metrics(user, 0));  // rank user + 1
      },
      3);
  EXPECT_EQ(sum.count(), 10U);
  EXPECT_DOUBLE_EQ(sum.mean().hits[0], 0.5);
  EXPECT_DOUBLE_EQ(sum.mean().hits[1], 1.0);
}

}  // namespace
}  // namespace sotto::metrics
