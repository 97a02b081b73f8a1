#include "metrics/ranking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sotto::metrics {

namespace {

constexpr std::size_t longest_cutoff = 30;

// discount_up_to[k] = sum over ranks r = 1..k of 1/log2(r+1): the DCG of k clicks in a row.
const std::array<double, longest_cutoff + 1>& discount_up_to() {
  static const auto sums = [] {
    std::array<double, longest_cutoff + 1> table{};
    for (std::size_t rank = 1; rank <= longest_cutoff; ++rank) {
      table[rank] = table[rank - 1] + 1.0 / std::log2(static_cast<double>(rank) + 1.0);
    }
    return table;
  }();
  return sums;
}

// The sum of discounts over ranks first..last (from 1), as far as they are within the cutoff.
double discount_between(std::uint64_t first, std::uint64_t last, std::size_t cutoff) {
  if (first > cutoff) return 0;
  const auto& sums = discount_up_to();
  return sums[std::min<std::uint64_t>(last, cutoff)] - sums[first - 1];
}

// Integers in the reverse order of the floats: the highest score comes first when sorted ascending, and equal
// floats (0 and -0 too) give equal integers. Sorting integers is faster than comparing floats through an
// index.
std::uint32_t descending_key(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 + 0 = 0
  const bool negative = (bits >> 31) != 0;
  return negative ? bits : ~bits & 0x7FFFFFFFU;
}

}  // namespace

std::optional<ImpressionMetrics> impression_metrics(std::span<const float> scores,
                                                    std::span<const std::uint8_t> clicked) {
  assert(scores.size() == clicked.size());
  thread_local std::vector<std::uint64_t> sorted;  // (descending key, clicked)
  sorted.resize(scores.size());
  std::uint64_t clicks = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return std::nullopt;
    const std::uint64_t click = clicked[i] != 0 ? 1 : 0;
    clicks += click;
    sorted[i] = std::uint64_t{descending_key(scores[i])} << 32 | click;
  }
  const std::uint64_t n = scores.size();
  if (clicks == 0 || clicks == n) return std::nullopt;
  std::sort(sorted.begin(), sorted.end());

  // Every metric is a sum over clicked items of a function of the rank, so its expectation over the order
  // within a tie is the mean of that function over the ranks of the tie, once per click in it.
  std::uint64_t twice_pairs_won = 0;  // a tied pair counts half
  double reciprocal_ranks = 0, dcg5 = 0, dcg10 = 0;
  std::uint64_t clicks_above = 0;
  for (std::uint64_t begin = 0; begin < n;) {
    std::uint64_t end = begin, clicks_here = 0;
    for (; end < n && sorted[end] >> 32 == sorted[begin] >> 32; ++end) clicks_here += sorted[end] & 1;
    const std::uint64_t others_here = end - begin - clicks_here;
    twice_pairs_won += others_here * (2 * clicks_above + clicks_here);
    if (clicks_here > 0) {
      double reciprocals = 0;
      for (std::uint64_t rank = begin + 1; rank <= end; ++rank)
        reciprocals += 1.0 / static_cast<double>(rank);
      const double clicks_per_rank = static_cast<double>(clicks_here) / static_cast<double>(end - begin);
      reciprocal_ranks += clicks_per_rank * reciprocals;
      dcg5 += clicks_per_rank * discount_between(begin + 1, end, 5);
      dcg10 += clicks_per_rank * discount_between(begin + 1, end, 10);
    }
    clicks_above += clicks_here;
    begin = end;
  }

  ImpressionMetrics metrics;
  metrics.auc = static_cast<double>(twice_pairs_won) /
                (2.0 * static_cast<double>(clicks) * static_cast<double>(n - clicks));
  metrics.mrr = reciprocal_ranks / static_cast<double>(clicks);
  // A perfect order may come out one rounding above 1.
  metrics.ndcg5 = std::min(1.0, dcg5 / discount_between(1, clicks, 5));
  metrics.ndcg10 = std::min(1.0, dcg10 / discount_between(1, clicks, 10));
  return metrics;
}

HeldOutMetrics held_out_metrics(std::uint64_t greater, std::uint64_t equal) {
  HeldOutMetrics metrics;
  const std::uint64_t first = greater + 1, last = greater + equal + 1;  // possible ranks, all equally likely
  const double ranks = static_cast<double>(equal) + 1.0;
  for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
    const std::size_t cutoff = static_cast<std::size_t>(HeldOutMetrics::cutoffs[c]);
    if (first > cutoff) continue;
    metrics.hits[c] = static_cast<double>(std::min<std::uint64_t>(last, cutoff) - greater) / ranks;
    metrics.ndcg[c] = discount_between(first, last, cutoff) / ranks;
  }
  return metrics;
}

namespace {

// For each of a few scores how many of the items that are not left out stand above it and level with it.
class Standings {
 public:
  Standings(std::span<const float> scores, std::span<const std::uint8_t> left_out,
            std::span<const std::uint32_t> of) {
    for (const std::uint32_t item : of)
      if (!std::isnan(scores[item])) thresholds_.push_back(scores[item]);
    std::sort(thresholds_.begin(), thresholds_.end());
    thresholds_.erase(std::unique(thresholds_.begin(), thresholds_.end()), thresholds_.end());
    // above_[t] first counts what beats thresholds_[t] but not thresholds_[t + 1].
    above_.assign(thresholds_.size(), 0);
    level_.assign(thresholds_.size(), 0);
    for (std::size_t item = 0; item < scores.size(); ++item) {
      if (left_out[item] != 0) continue;
      const float score = scores[item];
      // NaN compares false with everything, so an item without a score lands above all thresholds.
      const auto place =
          static_cast<std::size_t>(std::partition_point(thresholds_.begin(), thresholds_.end(),
                                                        [&](float t) { return !(t >= score); }) -
                                   thresholds_.begin());
      if (place < thresholds_.size() && thresholds_[place] == score) ++level_[place];
      if (place > 0) ++above_[place - 1];
    }
    for (std::size_t t = above_.size(); t-- > 1;) above_[t - 1] += above_[t];
  }
  struct Standing {
    std::uint64_t above, level;
  };
  // Of one of the scores; no NaN.
  Standing of(float score) const {
    const auto t = static_cast<std::size_t>(std::lower_bound(thresholds_.begin(), thresholds_.end(), score) -
                                            thresholds_.begin());
    return {above_[t], level_[t]};
  }

 private:
  std::vector<float> thresholds_;  // distinct, ascending
  std::vector<std::uint64_t> above_, level_;
};

}  // namespace

HeldOutMetrics held_out_metrics(std::span<const float> scores, std::span<const std::uint8_t> excluded,
                                std::span<const std::uint32_t> held_out) {
  assert(scores.size() == excluded.size());
  HeldOutMetrics mean;
  if (held_out.empty()) return mean;
  thread_local std::vector<std::uint8_t> touched;
  touched.assign(excluded.begin(), excluded.end());
  for (const std::uint32_t item : held_out) touched[item] = 1;
  const Standings standings(scores, touched, held_out);
  for (const std::uint32_t item : held_out) {
    if (std::isnan(scores[item])) continue;  // contributes zero
    const auto standing = standings.of(scores[item]);
    const HeldOutMetrics one = held_out_metrics(standing.above, standing.level);
    for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
      mean.hits[c] += one.hits[c];
      mean.ndcg[c] += one.ndcg[c];
    }
  }
  for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
    mean.hits[c] /= static_cast<double>(held_out.size());
    mean.ndcg[c] /= static_cast<double>(held_out.size());
  }
  return mean;
}

TopListMetrics top_list_metrics(std::span<const float> scores, std::span<const std::uint8_t> known,
                                std::span<const std::uint32_t> wanted) {
  assert(scores.size() == known.size());
  TopListMetrics metrics;
  if (wanted.empty()) return metrics;
  const Standings standings(scores, known, wanted);
  for (const std::uint32_t item : wanted) {
    if (std::isnan(scores[item])) continue;
    const auto standing = standings.of(scores[item]);
    // Level with itself and others: all their ranks are equally likely.
    const std::uint64_t first = standing.above + 1, last = standing.above + standing.level;
    if (first > TopListMetrics::cutoff) continue;
    const double ranks = static_cast<double>(standing.level);
    metrics.recall +=
        static_cast<double>(std::min<std::uint64_t>(last, TopListMetrics::cutoff) - standing.above) / ranks;
    metrics.ndcg += discount_between(first, last, TopListMetrics::cutoff) / ranks;
  }
  metrics.recall /= static_cast<double>(wanted.size());
  metrics.ndcg = std::min(1.0, metrics.ndcg / discount_between(1, wanted.size(), TopListMetrics::cutoff));
  return metrics;
}

}  // namespace sotto::metrics
