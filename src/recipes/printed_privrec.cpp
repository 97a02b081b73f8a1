#include "recipes/printed_privrec.h"

#include <cmath>

#include "privacy/accounting/paper_tables.h"
#include "privacy/accounting/training_exposure.h"

namespace sotto {

void PrintedPrivRecSettings::bind(SettingsTable& table) {
  table.add("printed_noise", noise, {1e-9, 1e6}, "paper mode: z, the noise multiplier as the paper counts it")
      .add("printed_budget_share", budget_share, {1e-6, 0.999999},
           "paper mode: h, the share of the budget spent on the clipping bound")
      .add("printed_quantile", quantile, {0.001, 0.999}, "paper mode: gamma, the share of users left whole")
      .add("printed_bound", initial_bound, {1e-9, 1e9}, "paper mode: S, the first clipping bound")
      .add("printed_floor", smallest_bound, {1e-12, 1e9}, "paper mode: the bound never falls below this")
      .add("printed_bound_rate", bound_rate, {1e-9, 1e9}, "paper mode: alpha4, how fast the bound moves");
}

Result<AdaptiveClip::Settings> PrintedPrivRecSettings::adaptive_clip(const OptimiserSettings& optimiser,
                                                                     std::int64_t cohort) const {
  if (optimiser.optimiser != "sgd" || optimiser.momentum != 0 || optimiser.halve_every != 0)
    return bad_input(
        "paper mode adds its noise to a plain step alpha3 * mean: use optimiser=sgd without momentum and "
        "halve_every, and learning_rate for alpha3");
  AdaptiveClip::Settings settings;
  settings.mode = GuaranteeMode::paper;
  settings.initial_bound = initial_bound;
  settings.smallest_bound = smallest_bound;
  settings.quantile = quantile;
  settings.rate = bound_rate;
  settings.budget_share = budget_share;
  settings.noise_multiplier = noise;
  settings.cohort = static_cast<std::uint64_t>(cohort);
  settings.server_rate = optimiser.learning_rate;
  SOTTO_TRY(const auto checked, AdaptiveClip::create(settings));
  (void)checked;
  return settings;
}

Result<PrivacyDatasheet> printed_datasheet(const AdaptiveClip::Settings& clip, std::uint64_t population,
                                           std::int64_t rounds, double delta) {
  SOTTO_TRY(const auto mechanism, AdaptiveClip::create(clip));
  const PrivacyEvent event = mechanism.round_event();
  const auto count = static_cast<std::uint64_t>(rounds);
  SOTTO_TRY(const auto holds,
            account_training({event.mechanism, event.adjacency, event.unit,
                              SamplingWithoutReplacement{clip.cohort, population}, count, count, 0},
                             delta));
  PrivacyDatasheet sheet;
  sheet.recipe = "dp-privrec";
  sheet.mode = "paper";
  sheet.mechanism = fmt::format(
      "mean of differences clipped to an adaptive bound, Gaussian noise of the server; printed multiplier "
      "{:g}, of a round as it is applied {:.4g}",
      clip.noise_multiplier, std::get<GaussianNoise>(event.mechanism).noise_multiplier);
  sheet.sampling = fmt::format("{} of {} users per round, without replacement", clip.cohort, population);
  sheet.composition = fmt::format("{} rounds, no cap on participations; server: {}, published: {}", rounds,
                                  name(holds.server.method), name(holds.published.method));
  sheet.unit = event.unit;
  sheet.adjacency = event.adjacency;
  sheet.delta = delta;
  // The server adds the noise itself: before that it sees every difference as it is.
  sheet.epsilon_server = std::nullopt;
  sheet.epsilon_published = holds.published.epsilon;
  sheet.epsilon_claimed =
      privrec_claimed_epsilon(clip.noise_multiplier, clip.cohort, population, count, delta);
  sheet.server_sees = {"who takes part in which round", "every device's clipped difference, without noise",
                       "whether it was within the bound"};
  sheet.not_protected = {
      "everything, from the server: noise is added there and not on the devices",
      fmt::format("were the sum taken securely and the noise as above, the server would see epsilon {:.4g}",
                  holds.server.epsilon),
      "the claim composes once per client and round, and takes z for the multiplier although the noise is "
      "not "
      "scaled by alpha3"};
  return sheet;
}

}  // namespace sotto
