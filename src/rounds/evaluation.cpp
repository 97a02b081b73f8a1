#include "rounds/evaluation.h"

#include <cmath>

#include "privacy/accounting/account.h"

namespace sotto::rounds {

Result<Campaign> with_evaluation(Campaign campaign, const EvaluationWish& wish) {
  if (wish.every == 0) return bad_input("a version is measured after every 0 rounds: let it be at least 1");
  const std::uint64_t times = campaign.rounds / wish.every + 1;  // the first one before all rounds
  campaign.evaluation =
      EvaluationSum{.every = wish.every,
                    .held_out = wish.held_out,
                    .pages = wish.pages,
                    .participations = wish.participations == 0 ? times : wish.participations,
                    .epsilon = wish.epsilon};
  EvaluationSum& sum = *campaign.evaluation;
  const auto fitted = [&](double noise) -> Result<secagg::EncodingPlan> {
    sum.noise_multiplier = noise;
    SOTTO_TRY(sum.step, secagg::finest_step(campaign.evaluation_encoding(), wish.bits));
    return secagg::EncodingPlan::create(campaign.evaluation_encoding());
  };
  SOTTO_TRY(
      const double noise, privacy::smallest_noise(wish.epsilon, [&](double candidate) -> Result<double> {
        SOTTO_TRY(const auto plan, fitted(candidate));
        privacy::PrivacyEvent event = *plan.event();
        event.count = sum.participations;
        SOTTO_TRY(const auto guarantee,
                  privacy::account_best(std::span(&event, 1), campaign.delta, privacy::Adversary::server));
        return guarantee.epsilon;
      }));
  SOTTO_TRY(const auto plan, fitted(noise));
  sum.bits = plan.modulus().bits();
  SOTTO_CHECK(evaluation_terms(campaign));
  return campaign;
}

Result<VersionEstimate> estimate_of(const Campaign& campaign,
                                    std::span<const std::vector<std::uint32_t>> sums, std::uint64_t devices) {
  if (!campaign.evaluation) return bad_input("the campaign measures no versions");
  SOTTO_TRY(const auto plan, secagg::EncodingPlan::create(campaign.evaluation_encoding()));
  secagg::SumDecoder decoder(plan);
  for (const auto& sum : sums) SOTTO_CHECK(decoder.add_group(sum));
  SOTTO_TRY(const auto mean, decoder.decode());
  // What is promised is the noise of as many devices as a group can be sure of; all who came added theirs.
  const secagg::EncodingPlan::Settings& group = plan.settings();
  const double sure_of = static_cast<double>(group.devices - group.dropped - group.corrupted);
  const double sigma = plan.sigma_of_mean() * std::sqrt(static_cast<double>(devices) / sure_of);
  const double pages = mean.update.at(0), order = mean.update.at(1);
  constexpr double most_certain = 3;
  if (!(pages > most_certain * sigma))
    return failed("devices kept too few pages out of training to measure by: the noise hides them");
  const double ratio = order / pages;
  return VersionEstimate{0.5 + ratio / 2, sigma * std::sqrt(1 + ratio * ratio) / pages / 2};
}

}  // namespace sotto::rounds
