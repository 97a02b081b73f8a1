#include "privacy/accounting/plan.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {
namespace {

constexpr double largest_value = 1e12;
constexpr std::int64_t largest_count = 1'000'000'000'000;

Status require(double value, std::string_view setting, std::string_view why) {
  if (std::isfinite(value) && value > 0) return {};
  return bad_input("set {} to a number above 0: {}", setting, why);
}

Result<Mechanism> mechanism_of(const PrivacyPlan& plan) {
  const auto& kind = plan.mechanism;
  if (kind == "gaussian") {
    SOTTO_CHECK(require(plan.noise, "noise", "the standard deviation over the L2 sensitivity"));
    return GaussianNoise{plan.noise};
  }
  if (kind == "laplace") {
    SOTTO_CHECK(require(plan.noise, "noise", "the Laplace scale over the L1 sensitivity"));
    return LaplaceNoise{plan.noise};
  }
  if (kind == "discrete-gaussian" || kind == "skellam") {
    SOTTO_CHECK(require(plan.noise, "noise", "the standard deviation in grid steps"));
    SOTTO_CHECK(require(plan.l1_sensitivity, "l1_sensitivity", "in grid steps"));
    SOTTO_CHECK(require(plan.l2_sensitivity, "l2_sensitivity", "in grid steps"));
    if (kind == "skellam") {
      return SkellamNoise{plan.noise * plan.noise, plan.l1_sensitivity, plan.l2_sensitivity};
    }
    return DiscreteGaussianNoise{plan.noise, static_cast<std::uint64_t>(plan.summands),
                                 static_cast<std::uint64_t>(plan.dimension), plan.l1_sensitivity,
                                 plan.l2_sensitivity};
  }
  SOTTO_CHECK(require(plan.epsilon, "epsilon", "what one use of the mechanism costs"));
  if (kind == "randomised-response") {
    return RandomisedResponse{plan.epsilon, static_cast<std::uint64_t>(plan.categories)};
  }
  if (kind == "pure") return PureDp{plan.epsilon};
  if (kind == "approximate") return ApproximateDp{plan.epsilon, plan.mechanism_delta};
  return bad_input("there is no mechanism called '{}'", kind);
}

Result<Sampling> sampling_of(const PrivacyPlan& plan) {
  if (plan.sampling == "none") return NoSampling{};
  if (plan.population < 1 || plan.cohort < 1) {
    return bad_input("sampling {} needs population and cohort, both at least 1", plan.sampling);
  }
  if (plan.cohort > plan.population) {
    return bad_input("a cohort of {} cannot be drawn from a population of {}", plan.cohort, plan.population);
  }
  if (plan.sampling == "without-replacement") {
    return SamplingWithoutReplacement{static_cast<std::uint64_t>(plan.cohort),
                                      static_cast<std::uint64_t>(plan.population)};
  }
  return PoissonSampling{static_cast<double>(plan.cohort) / static_cast<double>(plan.population)};
}

Result<Method> method_of(std::string_view word) {
  for (const Method method : {Method::rdp, Method::rdp_classical, Method::pld, Method::analytic_gaussian,
                              Method::pure_composition}) {
    if (word == name(method)) return method;
  }
  return bad_input("there is no accounting method called '{}'", word);
}

Unit unit_of(std::string_view word) {
  for (const Unit unit : {Unit::click, Unit::impression}) {
    if (word == name(unit)) return unit;
  }
  return Unit::user;
}

}  // namespace

void PrivacyPlan::bind(SettingsTable& table) {
  table
      .add_choice("mechanism", mechanism,
                  {"gaussian", "laplace", "discrete-gaussian", "skellam", "randomised-response", "pure",
                   "approximate"},
                  "What each round releases through")
      .add("noise", noise, {0, largest_value},
           "Gaussian: σ over L2 sensitivity; Laplace: scale over L1 sensitivity; grid noise: σ in grid steps")
      .add("epsilon", epsilon, {0, largest_value}, "ε of one use (randomised-response, pure, approximate)")
      .add("mechanism_delta", mechanism_delta, {0, 1}, "δ of one use (approximate)")
      .add("categories", categories, {2, largest_count}, "Values of randomised response")
      .add("l1_sensitivity", l1_sensitivity, {0, largest_value}, "Grid noise: L1 sensitivity in grid steps")
      .add("l2_sensitivity", l2_sensitivity, {0, largest_value}, "Grid noise: L2 sensitivity in grid steps")
      .add("dimension", dimension, {1, largest_count}, "Discrete Gaussian sums: number of coordinates")
      .add("summands", summands, {1, largest_count},
           "Discrete Gaussian sums: honest devices that surely report")
      .add_choice("sampling", sampling, {"none", "poisson", "without-replacement"},
                  "How a round's cohort is drawn")
      .add("population", population, {0, largest_count}, "Units that can be drawn")
      .add("cohort", cohort, {0, largest_count}, "Units drawn per round (Poisson: on average)")
      .add("rounds", rounds, {1, largest_count}, "Uses of the mechanism")
      .add("delta", delta, {0, 1}, "δ of the answer (method pure needs none)")
      .add_choice("adjacency", adjacency, {"add-remove", "replace-one"}, "Which data sets must look alike")
      .add_choice("unit", unit, {"click", "impression", "user"}, "What one unit is")
      .add_choice("method", method, {"best", "pld", "rdp", "rdp-classical", "analytic-gaussian", "pure"},
                  "Accountant")
      .add("participations", participations, {0, largest_count},
           "Cap per unit; when given, the ε against the server is answered as well")
      .add("total_variation", total_variation, {0, 1},
           "Distance per use between the sampler that runs and the law stated; charged to δ")
      .add("log_ratio", log_ratio, {0, 1},
           "Beside that distance, the sampler is within e^±this of its law, per use; charged to ε")
      .add("second_noise", second_noise, {0, largest_value},
           "Noise of a second release by the same mechanism, with everybody in both; 0: there is none")
      .add("second_l1_sensitivity", second_l1_sensitivity, {0, largest_value},
           "L1 sensitivity of the second release")
      .add("second_l2_sensitivity", second_l2_sensitivity, {0, largest_value},
           "L2 sensitivity of the second release")
      .add("second_total_variation", second_total_variation, {0, 1},
           "Distance of the second sampler from its law")
      .add("second_log_ratio", second_log_ratio, {0, 1}, "The same of the second sampler, as in log_ratio");
}

Result<PrivacyEvent> event_of(const PrivacyPlan& plan) {
  if (plan.rounds < 1) return bad_input("rounds must be at least 1, not {}", plan.rounds);
  PrivacyEvent event;
  SOTTO_TRY(event.mechanism, mechanism_of(plan));
  SOTTO_TRY(event.sampling, sampling_of(plan));
  event.adjacency = plan.adjacency == "replace-one" ? Adjacency::replace_one : Adjacency::add_remove;
  event.unit = unit_of(plan.unit);
  event.count = static_cast<std::uint64_t>(plan.rounds);
  event.total_variation = plan.total_variation;
  event.log_ratio = plan.log_ratio;
  SOTTO_CHECK(validate(event));
  return event;
}

Result<std::vector<PrivacyEvent>> events_of(const PrivacyPlan& plan) {
  SOTTO_TRY(const PrivacyEvent first, event_of(plan));
  if (plan.second_noise == 0) return std::vector{first};
  if (plan.epsilon != 0 || plan.sampling != "none")
    return bad_input(
        "second_noise is for mechanisms with noise and sampling=none: set it to 0, or leave out epsilon and "
        "sampling");
  PrivacyPlan further = plan;
  further.noise = plan.second_noise;
  further.l1_sensitivity = plan.second_l1_sensitivity;
  further.l2_sensitivity = plan.second_l2_sensitivity;
  further.total_variation = plan.second_total_variation;
  further.log_ratio = plan.second_log_ratio;
  SOTTO_TRY(const PrivacyEvent second, event_of(further));
  return std::vector{first, second};
}

Result<PlanAnswer> account(const PrivacyPlan& plan) {
  SOTTO_TRY(const std::vector<PrivacyEvent> events, events_of(plan));
  const PrivacyEvent& event = events.front();
  PlanAnswer answer;
  if (plan.method == "best") {
    SOTTO_TRY(answer.published, account_best(events, plan.delta, Adversary::published));
  } else {
    SOTTO_TRY(const Method method, method_of(plan.method));
    SOTTO_TRY(answer.published, account(events, plan.delta, method, Adversary::published));
  }
  if (plan.participations == 0) return answer;
  if (events.size() > 1) {
    // Everybody is in both releases, and the server knows it: it sees what is published, no more and no less.
    answer.server = answer.published;
    answer.server->adversary = Adversary::server;
    return answer;
  }

  TrainingExposure exposure{event.mechanism,
                            event.adjacency,
                            event.unit,
                            event.sampling,
                            event.count,
                            static_cast<std::uint64_t>(std::max<std::int64_t>(plan.participations, 0)),
                            event.total_variation,
                            event.log_ratio};
  SOTTO_TRY(TwoAdversaries both, account_training(exposure, plan.delta));
  answer.server = std::move(both.server);
  // A binding cap disturbs the sampling; account_training charges that. Keep the method asked for when it is
  // safe.
  const double reached =
      chance_above_cap(exposure.rounds, participation_rate(event.sampling), exposure.participation_cap);
  if (reached > 0) answer.published = std::move(both.published);
  return answer;
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
  plan.log_ratio = event.log_ratio;
  return plan;
}

Status save_plan(PrivacyPlan plan, const fs::path& file) {
  SettingsTable table;
  plan.bind(table);
  const std::string text = table.to_toml();
  if (fs::exists(file)) {
    SOTTO_TRY(const auto before, read_file(file, 1 << 16));
    if (before == text) return {};
    return bad_input(
        "{} was written for another plan: noise is fixed before the first round, so a private run keeps "
        "its number of rounds; go on without --rounds",
        file.string());
  }
  return write_file_atomically(file, text);
}

}  // namespace sotto::privacy
