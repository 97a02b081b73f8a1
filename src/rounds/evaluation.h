#pragma once
// How well a version ranks, as a campaign measures it: devices send two numbers each about pages that they
// keep out of training (local/page_evaluation.h), in a noised sum of their own. The AUC is over pages, of a
// device at most the latest `pages`. Pure functions.

#include <span>

#include "rounds/campaign.h"

namespace sotto::rounds {

// What a campaign is to ask beside training; the rest follows.
struct EvaluationWish {
  std::uint64_t every = 0, held_out = 5, pages = 10;
  std::uint64_t participations = 0;  // of one device; 0: in all of them
  double epsilon = 0;
  unsigned bits = 18;
};
// The campaign with the least noise that gives this ε, on the finest grid. Refuses wishes that cannot hold.
Result<Campaign> with_evaluation(Campaign campaign, const EvaluationWish& wish);

// What the order of an evaluation asks: as terms_of(), with the ε of all evaluations alone.
Result<CampaignTerms> evaluation_terms(const Campaign& campaign);

// What the sums of a round's groups say, in which so many devices are together. The noise is one standard
// error, of what these devices have added on purpose: another cohort would have other pages. Refuses sums in
// which the noise leaves no pages to divide by.
struct VersionEstimate {
  double auc = 0, noise = 0;
};
Result<VersionEstimate> estimate_of(const Campaign& campaign,
                                    std::span<const std::vector<std::uint32_t>> sums, std::uint64_t devices);

}  // namespace sotto::rounds
