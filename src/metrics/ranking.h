#pragma once
// Ranking metrics, one definition each. Ties are averaged: an item's rank is uniform over the positions of
// the items it ties with, and every metric here is the expectation over that choice, never broken in our
// favour.

#include <cstdint>
#include <optional>
#include <span>

namespace sotto::metrics {

// Per impression, then averaged over impressions, as the news papers do. All in 0..1.
struct ImpressionMetrics {
  double auc = 0, mrr = 0, ndcg5 = 0, ndcg10 = 0;
};

// Nothing when the impression has no click or nothing but clicks (no order to judge) or a score is NaN.
// MRR is MIND's: the mean of 1/rank over all clicked items. Both spans have the same length.
std::optional<ImpressionMetrics> impression_metrics(std::span<const float> scores,
                                                    std::span<const std::uint8_t> clicked);

// Mean of the above over many; impressions without a value are left out and counted.
struct MeanImpressionMetrics {
  ImpressionMetrics mean;
  std::uint64_t counted = 0, left_out = 0;
  // Standard errors of the means over impressions, as if these were independent; NaN when one cannot tell.
  ImpressionMetrics error = {};
};

// One held-out item against all items the user never touched: Hits@k and nDCG@k for k = 5, 10, 20, 30.
struct HeldOutMetrics {
  static constexpr int cutoffs[4] = {5, 10, 20, 30};
  double hits[4] = {}, ndcg[4] = {};
};

// `greater` unseen items score above the held-out one, `equal` the same.
HeldOutMetrics held_out_metrics(std::uint64_t greater, std::uint64_t equal);

// All held-out items of one user, averaged (an item named twice counts twice): scores over the catalogue,
// excluded[i] for items the user touched. Held-out items never compete with each other. A NaN is never in our
// favour: a held-out item without a score contributes zero, an unseen one without a score ranks above all.
HeldOutMetrics held_out_metrics(std::span<const float> scores, std::span<const std::uint8_t> excluded,
                                std::span<const std::uint32_t> held_out);

// The best 20 of all items a user did not know, as graph recommenders publish them: Recall@20 is the share of
// the wanted items among them, NDCG@20 their discounts over the best that is possible. Wanted items compete
// with each other.
struct TopListMetrics {
  static constexpr int cutoff = 20;
  double recall = 0, ndcg = 0;
};

// known[i] for items that are not ranked; `wanted` are different items that are. NaN as above.
TopListMetrics top_list_metrics(std::span<const float> scores, std::span<const std::uint8_t> known,
                                std::span<const std::uint32_t> wanted);

}  // namespace sotto::metrics
