#pragma once
// Slow, readable definitions of the ranking metrics: every order of the tied items is written out.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "metrics/ranking.h"

namespace sotto::metrics::reference {

// Calls visit(order) for every order of the items in which scores never increase. Items number at most 8 or
// so.
template <class Visit>
void for_each_valid_order(const std::vector<float>& scores, Visit visit) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    const bool valid = std::is_sorted(order.begin(), order.end(),
                                      [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    if (valid) visit(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

inline double dcg(const std::vector<int>& gains_by_rank, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(k, gains_by_rank.size()); ++i) {
    sum += gains_by_rank[i] / std::log2(static_cast<double>(i) + 2.0);
  }
  return sum;
}

inline double ndcg(const std::vector<int>& gains_by_rank, std::size_t k) {
  std::vector<int> ideal = gains_by_rank;
  std::sort(ideal.rbegin(), ideal.rend());
  return dcg(gains_by_rank, k) / dcg(ideal, k);
}

inline ImpressionMetrics of_order(const std::vector<int>& gains_by_rank) {
  ImpressionMetrics metrics;
  double pairs = 0, won = 0, clicks = 0;
  for (std::size_t i = 0; i < gains_by_rank.size(); ++i) {
    if (gains_by_rank[i] == 0) continue;
    clicks += 1;
    metrics.mrr += 1.0 / static_cast<double>(i + 1);
    for (std::size_t j = 0; j < gains_by_rank.size(); ++j) {
      if (gains_by_rank[j] != 0) continue;
      pairs += 1;
      won += i < j ? 1 : 0;
    }
  }
  metrics.auc = won / pairs;
  metrics.mrr /= clicks;
  metrics.ndcg5 = ndcg(gains_by_rank, 5);
  metrics.ndcg10 = ndcg(gains_by_rank, 10);
  return metrics;
}

// The mean over all orders that the scores allow.
inline ImpressionMetrics impression_metrics(const std::vector<float>& scores,
                                            const std::vector<std::uint8_t>& clicked) {
  ImpressionMetrics sum;
  double orders = 0;
  for_each_valid_order(scores, [&](const std::vector<std::size_t>& order) {
    std::vector<int> gains;
    for (const std::size_t item : order) gains.push_back(clicked[item] != 0 ? 1 : 0);
    const ImpressionMetrics one = of_order(gains);
    sum.auc += one.auc;
    sum.mrr += one.mrr;
    sum.ndcg5 += one.ndcg5;
    sum.ndcg10 += one.ndcg10;
    orders += 1;
  });
  return {sum.auc / orders, sum.mrr / orders, sum.ndcg5 / orders, sum.ndcg10 / orders};
}

// AUC by its pairwise definition, for inputs too long to enumerate.
inline double pairwise_auc(const std::vector<float>& scores, const std::vector<std::uint8_t>& clicked) {
  double pairs = 0, won = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (clicked[i] == 0 || clicked[j] != 0) continue;
      pairs += 1;
      won += scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0;
    }
  }
  return won / pairs;
}

// Hits and nDCG of one held-out item: each of its possible ranks in turn.
inline HeldOutMetrics held_out_metrics(const std::vector<float>& scores,
                                       const std::vector<std::uint8_t>& excluded,
                                       const std::vector<std::uint32_t>& held_out) {
  HeldOutMetrics mean;
  for (const std::uint32_t target : held_out) {
    std::size_t greater = 0, equal = 0;
    for (std::size_t item = 0; item < scores.size(); ++item) {
      const bool also_held_out = std::find(held_out.begin(), held_out.end(), item) != held_out.end();
      if (excluded[item] != 0 || also_held_out) continue;
      greater += scores[item] > scores[target] ? 1 : 0;
      equal += scores[item] == scores[target] ? 1 : 0;
    }
    for (std::size_t c = 0; c < 4; ++c) {
      const auto cutoff = static_cast<std::size_t>(HeldOutMetrics::cutoffs[c]);
      for (std::size_t rank = greater + 1; rank <= greater + equal + 1; ++rank) {
        if (rank > cutoff) continue;
        const double weight = 1.0 / (static_cast<double>(equal + 1) * static_cast<double>(held_out.size()));
        mean.hits[c] += weight;
        mean.ndcg[c] += weight / std::log2(static_cast<double>(rank) + 1.0);
      }
    }
  }
  return mean;
}

}  // namespace sotto::metrics::reference
