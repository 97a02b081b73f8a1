#include "fl/private_training.h"

#include <cmath>

#include "secagg/vectors/audited_sums.h"

namespace sotto::fl {

void PrivateTrainingSettings::bind(SettingsTable& table) {
  bind_budget(table);
  table
      .add_choice("against", against, {"server", "published"},
                  "Whose view epsilon bounds: of the server, which sees the cohorts, or of the published "
                  "models alone")
      .add("participations", participations, {0, 1000000000},
           "Rounds one user may take part in at most; 0: so many that hardly anybody reaches them")
      .add("clip", clip, {1e-12, 1e12}, "L2 norm that one user's update is clipped to, at first")
      .add_choice("updates", updates, {"batched", "device"},
                  "Who computes what a user sends: many users in one product, or the code that runs on "
                  "devices, one user after another");
}

void PrivateTrainingSettings::bind_budget(SettingsTable& table) {
  table
      .add("epsilon", epsilon, {0.0, 1e6},
           "Privacy budget of the whole training, per user; must be given in sound mode")
      .add("delta", delta, {1e-300, 0.5}, "delta of that budget: below one over the number of users")
      .add("bits", bits, {8, 32}, "Bits per coordinate of an upload")
      .add("dropping", dropping, {0.0, 0.9}, "Share of a cohort that may vanish after it chose its noise")
      .add("corrupted", corrupted, {0.0, 0.9}, "Share of a cohort that may tell the server its noise");
  sums.bind(table);
}

void PrivateTrainingSettings::bind_following_bound(SettingsTable& table) {
  table
      .add("clip_quantile", clip_quantile, {0.0, 0.999},
           "Share of users that the clipping bound shall leave whole; 0: the bound stays where it is")
      .add("clip_rate", clip_rate, {1e-9, 1e9}, "How fast the bound follows that share (alpha4)")
      .add("clip_floor", clip_floor, {1e-12, 1e12}, "The bound never falls below this");
}

Result<PrivateTraining> PrivateTraining::calibrate(const PrivateTrainingSettings& settings,
                                                   const TrainingShape& shape) {
  const secagg::TrainingBudget budget{
      .epsilon = settings.epsilon,
      .delta = settings.delta,
      .against = settings.against == "server" ? privacy::Adversary::server : privacy::Adversary::published,
      .participations = static_cast<std::uint64_t>(settings.participations),
      .bits = static_cast<unsigned>(settings.bits),
      .dropping = settings.dropping,
      .corrupted = settings.corrupted,
      .clip = settings.clip,
      .bound_follows = settings.clip_quantile > 0};
  SOTTO_TRY(auto calibrated, secagg::calibrated_plan(budget, shape));
  return PrivateTraining{std::move(calibrated), settings.sums.chosen(shape.cohort)};
}

Status check_nothing_is_chosen(const TrainingDataSettings& data) {
  if (data.validation_impressions == 0) return {};
  return bad_input(
      "choosing the best round on users' impressions is a release that the budget does not cover: set "
      "validation_impressions=0, which publishes the last round");
}

privacy::PrivacyDatasheet PrivateTraining::datasheet(std::string recipe) const {
  const bool holds_against_server = std::isfinite(guarantee.server.epsilon);
  privacy::PrivacyDatasheet sheet;
  sheet.recipe = std::move(recipe);
  sheet.mode = "sound";
  sheet.mechanism = fmt::format(
      "sum of updates clipped to {}, Skellam shares of {} surely honest devices, noise multiplier {:.4g} "
      "of the sensitivity, {} bits; simulated with sums={}",
      plan.clip_bit() ? "a bound that follows a quantile (clip bit in the same sum)"
                      : fmt::format("{:g}", plan.settings().clip),
      plan.noise_share()->surely_present(), plan.settings().noise_multiplier, plan.modulus().bits(), sums);
  sheet.sampling =
      fmt::format("{} of {} users per round, without replacement", accounted.cohort, accounted.population);
  sheet.composition = fmt::format("{} rounds, at most {} per user; server: {}, published: {}",
                                  accounted.rounds, accounted.participations,
                                  holds_against_server ? privacy::name(guarantee.server.method) : "no bound",
                                  privacy::name(guarantee.published.method));
  sheet.unit = guarantee.server.unit;
  sheet.adjacency = guarantee.server.adjacency;
  sheet.delta = guarantee.server.delta;
  if (holds_against_server) sheet.epsilon_server = guarantee.server.epsilon;
  sheet.epsilon_published = guarantee.published.epsilon;
  sheet.sums = {secagg::record_of(plan, "updates")};
  sheet.server_sees = {"who takes part in which round",
                       "the noisy sum of each round, and nothing of a single device"};
  sheet.not_protected = {
      "what users have in common", "that somebody uses the service",
      "side channels: timing, addresses, a device that is broken into",
      "a device in a cohort with more accomplices of the server, or more that vanish, than the plan reckons "
      "with: the server picks the cohorts",
      "log.jsonl, last.sotto and metrics in this folder: the simulation's own view, not for publication"};
  if (!holds_against_server)
    sheet.not_protected.emplace_back(
        "anything, against the server: so little noise shows no epsilon at this delta. What is published is "
        "protected by the sampling, which the server sees; --against server asks for enough noise");
  return sheet;
}

Result<SoundRounds> SoundRounds::begin(const PrivateTrainingSettings& budget, const TrainingShape& shape,
                                       const fs::path& run) {
  SOTTO_TRY(auto training, PrivateTraining::calibrate(budget, shape));
  SOTTO_CHECK(privacy::save_plan(training.accounted, run / "privacy.toml"));
  return SoundRounds(budget, std::move(training));
}

Result<UpdateSource*> SoundRounds::through(RoundFold& fold, UserUpdates& updates, CohortSampler sampler,
                                           const privacy::NoiseOrigin& noise, std::uint64_t seed) {
  SOTTO_TRY(gather_, budget_.sums.gather({{std::move(sampler), training_.participations()},
                                          updates,
                                          noise,
                                          {secagg::PlanAgreement::to(training_.plan)},
                                          {.seed = seed}}));
  rounds_ = std::make_unique<CohortRounds>(fold, *gather_);
  if (budget_.clip_quantile > 0) rounds_->follow(budget_.bound_rule());
  return rounds_.get();
}

}  // namespace sotto::fl
