#include "recipes/private_training.h"

#include <cmath>

#include "privacy/accounting/account.h"

namespace sotto {

void PrivateTrainingSettings::bind(SettingsTable& table) {
  bind_budget(table);
  table
      .add_choice(
          "against", against, {"published", "server"},
          "Whose view the budget bounds: of the published models, or of the server, which sees the cohorts")
      .add("participations", participations, {0, 1000000000},
           "Rounds one user may take part in at most; 0: so many that hardly anybody reaches them")
      .add("clip", clip, {1e-12, 1e12}, "L2 norm that one user's update is clipped to, at first");
}

void PrivateTrainingSettings::bind_budget(SettingsTable& table) {
  table
      .add("epsilon", epsilon, {0.0, 1e6},
           "Privacy budget of the whole training, per user; must be given in sound mode")
      .add("delta", delta, {1e-300, 0.5}, "delta of that budget; well below one over the number of users")
      .add("bits", bits, {8, 32}, "Bits per coordinate of an upload")
      .add("dropping", dropping, {0.0, 0.9}, "Share of a cohort that may vanish after it chose its noise")
      .add("corrupted", corrupted, {0.0, 0.9}, "Share of a cohort that may tell the server its noise");
}

void PrivateTrainingSettings::bind_following_bound(SettingsTable& table) {
  table
      .add("clip_quantile", clip_quantile, {0.0, 0.999},
           "Share of users that the clipping bound shall leave whole; 0: the bound stays where it is")
      .add("clip_rate", clip_rate, {1e-9, 1e9}, "How fast the bound follows that share (alpha4)")
      .add("clip_floor", clip_floor, {1e-12, 1e12}, "The bound never falls below this");
}

namespace {

// Bisection stops when the noise is known to this factor.
constexpr double noise_precision = 1.001;

struct Candidate {
  EncodingPlan plan;
  TwoAdversaries guarantee;
};

// Unless given: so many that hardly anybody is ever turned away, because every such case costs delta.
std::uint64_t participation_cap(const PrivateTrainingSettings& settings, const TrainingShape& shape) {
  if (settings.participations > 0) return static_cast<std::uint64_t>(settings.participations);
  const double rate = static_cast<double>(shape.cohort) / static_cast<double>(shape.population);
  std::uint64_t cap = 1;
  while (chance_above_cap(shape.rounds, rate, cap) > settings.delta / 1000) ++cap;
  return cap;
}

Result<Candidate> with_noise(const PrivateTrainingSettings& settings, const TrainingShape& shape,
                             double noise_multiplier) {
  EncodingPlan::Settings encoding;
  encoding.dimension = shape.dimension;
  encoding.clip = settings.clip;
  if (settings.clip_quantile > 0) encoding.clip = 1, encoding.clip_bit_weight = clip_bit_weight;
  encoding.denominator = static_cast<double>(shape.cohort);
  encoding.devices = shape.cohort;
  encoding.dropped = devices_in(settings.dropping, shape.cohort);
  encoding.corrupted = devices_in(settings.corrupted, shape.cohort);
  encoding.noise_multiplier = noise_multiplier;
  encoding.adjacency = Adjacency::replace_one;
  SOTTO_TRY(encoding.step, finest_step(encoding, static_cast<unsigned>(settings.bits)));
  SOTTO_TRY(EncodingPlan plan, EncodingPlan::create(encoding));
  const PrivacyEvent event = *plan.event();
  const TrainingExposure exposure{
      event.mechanism,      event.adjacency,
      event.unit,           SamplingWithoutReplacement{shape.cohort, shape.population},
      shape.rounds,         participation_cap(settings, shape),
      event.total_variation};
  SOTTO_TRY(auto guarantee, account_training(exposure, settings.delta));
  return Candidate{std::move(plan), std::move(guarantee)};
}

PrivacyPlan accounted_as(const PrivateTrainingSettings& settings, const TrainingShape& shape,
                         const PrivacyEvent& event) {
  PrivacyPlan plan = stated(event, settings.delta);
  plan.sampling = "without-replacement";
  plan.population = static_cast<std::int64_t>(shape.population);
  plan.cohort = static_cast<std::int64_t>(shape.cohort);
  plan.rounds = static_cast<std::int64_t>(shape.rounds);
  plan.participations = static_cast<std::int64_t>(participation_cap(settings, shape));
  return plan;
}

}  // namespace

std::uint64_t devices_in(double share, std::uint64_t devices) {
  return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(devices) - 1e-9));
}

PrivacyPlan stated(const PrivacyEvent& event, double delta) {
  const auto& noise = std::get<SkellamNoise>(event.mechanism);
  PrivacyPlan plan;
  plan.mechanism = "skellam";
  plan.noise = std::sqrt(noise.variance);
  plan.l1_sensitivity = noise.l1_sensitivity;
  plan.l2_sensitivity = noise.l2_sensitivity;
  plan.delta = delta;
  plan.adjacency = "replace-one";
  plan.total_variation = event.total_variation;
  return plan;
}

Result<PrivateTraining> PrivateTraining::calibrate(const PrivateTrainingSettings& settings,
                                                   const TrainingShape& shape) {
  if (settings.epsilon <= 0)
    return bad_input("sound mode needs a budget: give --epsilon (and delta, {:g} by default)",
                     settings.delta);
  const auto epsilon = [&](const Candidate& candidate) {
    return settings.against == "server" ? candidate.guarantee.server.epsilon
                                        : candidate.guarantee.published.epsilon;
  };
  double most = 1;
  auto good = with_noise(settings, shape, most);
  while (good && epsilon(*good) > settings.epsilon && most < 1e6)
    good = with_noise(settings, shape, most *= 2);
  if (!good) return tl::unexpected(good.error());
  if (epsilon(*good) > settings.epsilon)
    return bad_input("no amount of noise gives epsilon {} at delta {:g}: raise one of them", settings.epsilon,
                     settings.delta);
  double least = most / 1024;
  while (most > least * noise_precision) {
    const double middle = std::sqrt(least * most);
    auto tried = with_noise(settings, shape, middle);
    // A grid that cannot carry so little noise counts as too little.
    if (tried && epsilon(*tried) <= settings.epsilon) {
      most = middle;
      good = std::move(tried);
    } else {
      least = middle;
    }
  }
  const PrivacyEvent event = *good->plan.event();
  return PrivateTraining{std::move(good->plan), std::move(good->guarantee),
                         accounted_as(settings, shape, event)};
}

Result<PrivateTraining> PrivateTraining::begin(const PrivateTrainingSettings& settings,
                                               const TrainingShape& shape, const TrainingDataSettings& data,
                                               const fs::path& run) {
  SOTTO_CHECK(check_nothing_is_chosen(data));
  SOTTO_TRY(auto training, calibrate(settings, shape));
  SOTTO_CHECK(training.save(run / "privacy.toml"));
  return training;
}

Status check_nothing_is_chosen(const TrainingDataSettings& data) {
  if (data.validation_impressions == 0) return {};
  return bad_input(
      "choosing the best round on users' impressions is a release that the budget does not cover: set "
      "validation_impressions=0, which publishes the last round");
}

PrivacyDatasheet datasheet_of(const PrivateTraining& training, std::string recipe) {
  const EncodingPlan& plan = training.plan;
  const bool holds_against_server = std::isfinite(training.guarantee.server.epsilon);
  PrivacyDatasheet sheet;
  sheet.recipe = std::move(recipe);
  sheet.mode = "sound";
  sheet.mechanism = fmt::format(
      "sum of updates clipped to {}, Skellam shares of {} surely honest devices, noise multiplier {:.4g} "
      "of the sensitivity, {} bits",
      plan.clip_bit() ? "a bound that follows a quantile (clip bit in the same sum)"
                      : fmt::format("{:g}", plan.settings().clip),
      plan.noise_share()->surely_present(), plan.settings().noise_multiplier, plan.modulus().bits());
  sheet.sampling = fmt::format("{} of {} users per round, without replacement", training.accounted.cohort,
                               training.accounted.population);
  sheet.composition = fmt::format("{} rounds, at most {} per user; server: {}, published: {}",
                                  training.accounted.rounds, training.accounted.participations,
                                  holds_against_server ? name(training.guarantee.server.method) : "no bound",
                                  name(training.guarantee.published.method));
  sheet.unit = training.guarantee.server.unit;
  sheet.adjacency = training.guarantee.server.adjacency;
  sheet.delta = training.guarantee.server.delta;
  if (holds_against_server) sheet.epsilon_server = training.guarantee.server.epsilon;
  sheet.epsilon_published = training.guarantee.published.epsilon;
  sheet.server_sees = {"who takes part in which round",
                       "the noisy sum of each round, and nothing of a single device"};
  sheet.not_protected = {
      "what users have in common", "that somebody uses the service",
      "side channels: timing, addresses, a device that is broken into",
      "loss, click counts and metrics in this folder: the simulation's own view, not for publication"};
  if (!holds_against_server)
    sheet.not_protected.emplace_back(
        "anything, against the server: so little noise shows no epsilon at this delta. What is published is "
        "protected by the sampling, which the server sees; against=server asks for enough noise");
  return sheet;
}

Status save_plan(PrivacyPlan plan, const fs::path& file) {
  SettingsTable table;
  plan.bind(table);
  const std::string text = table.to_toml();
  if (fs::exists(file)) {
    SOTTO_TRY(const auto before, read_file(file, 1 << 16));
    if (before != text)
      return bad_input(
          "{} was written for another plan: noise is fixed before the first round, so a private run keeps "
          "its "
          "number of rounds",
          file.string());
  }
  return write_file_atomically(file, text);
}

Result<PrivacyDatasheet> elementwise_datasheet(const ElementwiseLaplace::Settings& upload,
                                               std::int64_t rounds) {
  SOTTO_TRY(const auto mechanism, ElementwiseLaplace::create(upload));
  const MechanismStatement statement = mechanism.statement();
  PrivacyEvent all = *statement.holds;
  all.count = static_cast<std::uint64_t>(rounds);
  all.total_variation = 0;  // of the law as printed
  SOTTO_TRY(const auto holds, account({&all, 1}, 0, Method::pure_composition, Adversary::server));
  PrivacyDatasheet sheet;
  sheet.recipe = "fednewsrec";
  sheet.mode = "paper";
  sheet.mechanism = fmt::format("every coordinate clipped to {:g}, Laplace({:g}) on each of {}", upload.clip,
                                upload.scale, upload.dimension);
  sheet.sampling = "the server picks and sees the cohort: nothing is gained by sampling";
  sheet.composition = fmt::format("{} rounds, no cap on participations; pure composition", rounds);
  sheet.unit = holds.unit;
  sheet.adjacency = holds.adjacency;
  sheet.epsilon_server = holds.epsilon;
  sheet.epsilon_published = holds.epsilon;
  sheet.epsilon_claimed = statement.claimed_epsilon;
  sheet.server_sees = {"who takes part in which round", "every device's noisy gradient on its own",
                       "how many clicks every device has"};
  sheet.not_protected = {statement.why};
  return sheet;
}

}  // namespace sotto
