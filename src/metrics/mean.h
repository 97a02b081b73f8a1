#pragma once
// Means of per-impression and per-user metrics over many, in parallel, with a result that does not depend on
// the number of threads: each fixed chunk of indices has its own sum, and the sums are combined in index
// order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "metrics/ranking.h"

namespace sotto::metrics {

struct MeanAndError {
  double mean = 0;
  double error = 0;  // standard error of the mean; NaN when one value cannot tell
};

// The error is the sample's standard deviation over the root of the count. No values: NaN.
MeanAndError mean_and_error(std::span<const double> values);

// Running sum of impression metrics. A plain value; not thread-safe: one per chunk, then merge().
class ImpressionMetricsSum {
 public:
  void add(const std::optional<ImpressionMetrics>& metrics);  // nothing: counted as left out
  void merge(const ImpressionMetricsSum& later);
  MeanImpressionMetrics mean() const;  // zeros when nothing was counted

 private:
  ImpressionMetrics sum_, squares_;
  std::uint64_t counted_ = 0, left_out_ = 0;
};

// The same for held-out metrics, one addition per user.
class HeldOutMetricsSum {
 public:
  void add(const HeldOutMetrics& metrics);
  void merge(const HeldOutMetricsSum& later);
  HeldOutMetrics mean() const;  // zeros when nothing was added
  std::uint64_t count() const { return count_; }

 private:
  HeldOutMetrics sum_;
  std::uint64_t count_ = 0;
};

// Calls add_range(begin, end, sum) for fixed chunks of [0, n) on the thread pool, each with its own Sum, and
// merges these in order. `chunk` is part of the result's rounding: leave it alone between runs to be
// compared.
template <class Sum>
Sum sum_in_chunks(std::size_t n, const std::function<void(std::size_t, std::size_t, Sum&)>& add_range,
                  std::size_t chunk = 128) {
  chunk = std::max<std::size_t>(chunk, 1);
  std::vector<Sum> sums(n / chunk + (n % chunk != 0 ? 1 : 0));
  parallel_for(sums.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c) {
      Sum sum;  // a local: neighbours in `sums` share cache lines
      add_range(c * chunk, c * chunk + std::min(chunk, n - c * chunk), sum);
      sums[c] = sum;
    }
  });
  Sum total;
  for (const Sum& sum : sums) total.merge(sum);
  return total;
}

// Popularity as a ranking: how often an item is clicked when shown. The rate is smoothed towards the mean of
// all items, so an item never shown stands in the middle, not at the end. On news that is far stronger than
// counting clicks, which ranks everything fresh last.

// Not thread-safe.
class ClickRates {
 public:
  explicit ClickRates(std::size_t items) : shown_(items, 0), clicked_(items, 0) {}
  // One impression: what was shown, and 1 where it was clicked. Items below the number given above.
  void add(std::span<const std::uint32_t> shown, std::span<const std::uint8_t> clicked);
  // (clicks + prior * mean) / (times shown + prior) per item, 0 for all when nothing was shown.
  std::vector<float> smoothed() const;

  static constexpr double prior = 100;  // times shown that weigh as much as the mean of all items

 private:
  std::vector<std::uint64_t> shown_, clicked_;
};

}  // namespace sotto::metrics
