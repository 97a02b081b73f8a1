#include "secagg/vectors/calibrated_plan.h"

#include <cmath>

#include "base/progress.h"
#include "privacy/accounting/account.h"

namespace sotto::secagg {

namespace {

// What private training adds to a bound that follows a quantile: half of it is the bit's largest value, in
// units of the bound. Costs √(1 + c²/4) in noise.
constexpr double following_bit_weight = 0.5;

struct CalibrationCandidate {
  EncodingPlan plan;
  privacy::TrainingExposure exposure;
};

std::uint64_t participation_cap(const TrainingBudget& budget, const TrainingShape& shape) {
  if (budget.participations > 0) return budget.participations;
  return privacy::participation_cap_for(budget.epsilon, budget.delta, budget.against,
                                        {shape.cohort, shape.population}, shape.rounds);
}

Result<CalibrationCandidate> with_noise(const TrainingBudget& budget, const TrainingShape& shape,
                                        std::uint64_t cap, double noise_multiplier) {
  EncodingPlan::Settings encoding;
  encoding.dimension = shape.dimension;
  encoding.clip = budget.clip;
  if (budget.bound_follows) encoding.clip = 1, encoding.clip_bit_weight = following_bit_weight;
  encoding.denominator = static_cast<double>(shape.cohort);
  encoding.devices = shape.group_size();
  encoding.dropped = devices_in(budget.dropping, encoding.devices);
  encoding.corrupted = devices_in(budget.corrupted, encoding.devices);
  encoding.noise_multiplier = noise_multiplier;
  encoding.adjacency = privacy::Adjacency::replace_one;
  SOTTO_TRY(encoding.step, finest_step(encoding, budget.bits));
  SOTTO_TRY(EncodingPlan plan, EncodingPlan::create(encoding));
  const privacy::PrivacyEvent event = *plan.event();
  const privacy::TrainingExposure exposure{
      event.mechanism,      event.adjacency,
      event.unit,           privacy::SamplingWithoutReplacement{shape.cohort, shape.population},
      shape.rounds,         cap,
      event.total_variation};
  return CalibrationCandidate{std::move(plan), exposure};
}

// The view that the budget bounds. The server's is a closed form; only the published one needs the sampling.
Result<double> bounded_epsilon(const TrainingBudget& budget, const CalibrationCandidate& tried) {
  if (budget.against == privacy::Adversary::server) {
    SOTTO_TRY(const auto server, privacy::account_server(tried.exposure, budget.delta));
    return server.epsilon;
  }
  SOTTO_TRY(const auto both, privacy::account_training(tried.exposure, budget.delta));
  return both.published.epsilon;
}

privacy::PrivacyPlan accounted_as(const TrainingBudget& budget, const TrainingShape& shape, std::uint64_t cap,
                                  const privacy::PrivacyEvent& event) {
  privacy::PrivacyPlan plan = privacy::stated(event, budget.delta);
  plan.sampling = "without-replacement";
  plan.population = static_cast<std::int64_t>(shape.population);
  plan.cohort = static_cast<std::int64_t>(shape.cohort);
  plan.rounds = static_cast<std::int64_t>(shape.rounds);
  plan.participations = static_cast<std::int64_t>(cap);
  return plan;
}

}  // namespace

std::uint64_t devices_in(double share, std::uint64_t devices) {
  return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(devices) - 1e-9));
}

Result<CalibratedPlan> calibrated_plan(const TrainingBudget& budget, const TrainingShape& shape) {
  if (budget.epsilon <= 0)
    return bad_input("private training needs a budget: give --epsilon (and delta, {:g} by default)",
                     budget.delta);
  SOTTO_CHECK(check_delta(budget.delta, shape.population));
  Progress progress("calibrating", 0, "amounts of noise");
  const std::uint64_t cap = participation_cap(budget, shape);
  const auto noise = privacy::smallest_noise(budget.epsilon, [&](double candidate) -> Result<double> {
    progress.advance();
    SOTTO_TRY(const CalibrationCandidate tried, with_noise(budget, shape, cap, candidate));
    return bounded_epsilon(budget, tried);
  });
  if (!noise)
    return tl::unexpected(
        Error(noise.error())
            .in(fmt::format("{} rounds, of which one user takes part in up to {} (fewer need less noise)",
                            shape.rounds, cap)));
  SOTTO_TRY(CalibrationCandidate good, with_noise(budget, shape, cap, *noise));
  SOTTO_TRY(auto guarantee, privacy::account_training(good.exposure, budget.delta));
  const privacy::PrivacyEvent event = *good.plan.event();
  return CalibratedPlan{std::move(good.plan), std::move(guarantee), accounted_as(budget, shape, cap, event)};
}

Status check_delta(double delta, std::uint64_t users) {
  const double limit = 1 / static_cast<double>(users);
  if (delta < limit) return {};
  return bad_input(
      "delta {:g} is not below one over the population of {} users ({:.2g}): so large a delta allows to "
      "publish somebody's rows as they are. Choose it well below that, for example delta={:.0e}",
      delta, users, limit, limit / 10);
}

}  // namespace sotto::secagg
