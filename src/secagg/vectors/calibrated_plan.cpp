#include "secagg/vectors/calibrated_plan.h"

#include <cmath>
#include <optional>

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
      event.mechanism,
      event.adjacency,
      event.unit,
      privacy::SamplingWithoutReplacement{shape.cohort, shape.population},
      shape.rounds,
      cap,
      event.total_variation,
      event.log_ratio};
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

namespace {

Result<double> least_noise(const TrainingBudget& budget, const TrainingShape& shape, std::uint64_t cap,
                           Progress& progress) {
  return privacy::smallest_noise(budget.epsilon, [&](double candidate) -> Result<double> {
    progress.advance();
    SOTTO_TRY(const CalibrationCandidate tried, with_noise(budget, shape, cap, candidate));
    return bounded_epsilon(budget, tried);
  });
}

// More noise needs a coarser grid, on which rounding adds to what one device can move: with too few bits no
// noise is enough. With how many it is; nothing: with no number of them.
std::optional<unsigned> bits_that_hold(TrainingBudget budget, const TrainingShape& shape, std::uint64_t cap,
                                       Progress& progress) {
  constexpr unsigned most_bits = 32;
  for (unsigned bits = budget.bits + 1; bits <= most_bits; ++bits) {
    budget.bits = bits;
    const auto noise = least_noise(budget, shape, cap, progress);
    if (noise) return bits;
    if (noise.error().kind != ErrorKind::bad_input) break;  // stopped
  }
  return std::nullopt;
}

Error refusal(Error why, const TrainingBudget& budget, const TrainingShape& shape, std::uint64_t cap,
              Progress& progress) {
  if (why.kind == ErrorKind::bad_input) {
    if (const auto bits = bits_that_hold(budget, shape, cap, progress))
      why.message += fmt::format(
          ". With bits={} it can be held, with {} it cannot; two or three more make the grid fine", *bits,
          *bits - 1);
  }
  return std::move(why).in(fmt::format(
      "{} rounds, of which one user takes part in up to {} (fewer need less noise)", shape.rounds, cap));
}

}  // namespace

Result<CalibratedPlan> calibrated_plan(const TrainingBudget& budget, const TrainingShape& shape) {
  if (budget.epsilon <= 0)
    return bad_input("private training needs a budget above 0: give --epsilon E (and delta, {:g} by default)",
                     budget.delta);
  SOTTO_CHECK(check_delta(budget.delta, shape.population));
  Progress progress("calibrating", 0, "amounts of noise");
  const std::uint64_t cap = participation_cap(budget, shape);
  auto noise = least_noise(budget, shape, cap, progress);
  if (!noise) return tl::unexpected(refusal(std::move(noise).error(), budget, shape, cap, progress));
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
