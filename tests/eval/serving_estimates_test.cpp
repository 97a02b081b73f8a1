#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"
#include "eval/experiments/serving/serving_quality.h"

namespace sotto::eval::private_serving {
namespace {

// Readers with several queries each, whose queries resemble each other.
struct Queries {
  explicit Queries(std::size_t readers) {
    SeededRandom random(4, Purpose::test);
    for (std::uint32_t reader = 0; reader < readers; ++reader) {
      const double own = normal(random);
      for (std::uint64_t q = 1 + uniform_below(random, 4); q > 0; --q) {
        floor.push_back(0.5 + 0.1 * normal(random));
        ceiling.push_back(floor.back() + 0.2 + 0.1 * own + 0.05 * normal(random));
        values.push_back(floor.back() + 0.6 * (ceiling.back() - floor.back()) + 0.05 * own +
                         0.05 * normal(random));
        reader_of.push_back(reader);
      }
    }
  }
  std::vector<double> values, floor, ceiling;
  std::vector<std::uint32_t> reader_of;
};

TEST(ServingEstimates, FloorKeepsNothingAndCeilingEverything) {
  const Queries q(50);
  EXPECT_NEAR(share_of_gain(q.floor, q.floor, q.ceiling, q.reader_of).value, 0, 1e-12);
  const Estimate all = share_of_gain(q.ceiling, q.floor, q.ceiling, q.reader_of);
  EXPECT_NEAR(all.value, 1, 1e-12);
  EXPECT_NEAR(all.error, 0, 1e-12);
}

TEST(ServingEstimates, ErrorsAgreeWithABootstrapOverReaders) {
  const Queries q(300);
  std::vector<std::pair<std::size_t, std::size_t>> readers;
  for (std::size_t first = 0; first < q.values.size();) {
    std::size_t last = first;
    while (last < q.values.size() && q.reader_of[last] == q.reader_of[first]) ++last;
    readers.emplace_back(first, last);
    first = last;
  }
  SeededRandom random(9, Purpose::test);
  constexpr int resamples = 2000;
  double sum[2] = {}, squares[2] = {};
  for (int r = 0; r < resamples; ++r) {
    double value = 0, gained = 0, possible = 0, count = 0;
    for (std::size_t draw = 0; draw < readers.size(); ++draw) {
      const auto [first, last] = readers[uniform_below(random, readers.size())];
      for (std::size_t i = first; i < last; ++i) {
        value += q.values[i];
        gained += q.values[i] - q.floor[i];
        possible += q.ceiling[i] - q.floor[i];
        ++count;
      }
    }
    const double drawn[2] = {value / count, gained / possible};
    for (int k = 0; k < 2; ++k) sum[k] += drawn[k], squares[k] += drawn[k] * drawn[k];
  }
  const Estimate estimates[2] = {mean_by_reader(q.values, q.reader_of),
                                 share_of_gain(q.values, q.floor, q.ceiling, q.reader_of)};
  for (int k = 0; k < 2; ++k) {
    const double mean = sum[k] / resamples;
    const double error = std::sqrt(squares[k] / resamples - mean * mean);
    EXPECT_NEAR(estimates[k].value, mean, 3 * error / std::sqrt(resamples) + 0.1 * error);
    EXPECT_NEAR(estimates[k].error / error, 1, 0.1);
  }
}

TEST(ServingEstimates, QueriesWithoutAValueAreLeftOut) {
  const std::vector<double> values = {1, NAN, 3};
  const std::vector<std::uint32_t> readers = {0, 1, 2};
  EXPECT_DOUBLE_EQ(mean_by_reader(values, readers).value, 2);
}

TEST(ServingEstimates, NoGainToKeepHasNoShare) {
  const std::vector<double> same = {1, 1};
  const std::vector<std::uint32_t> readers = {0, 1};
  EXPECT_TRUE(std::isnan(share_of_gain(same, same, same, readers).value));
}

}  // namespace
}  // namespace sotto::eval::private_serving
