#include "secagg/vectors/two_sums.h"

#include <array>

namespace sotto::secagg {

namespace {

// The values of one grid step in the two sums; 0: the finest that fits into the bits.
struct Steps {
  double first = 0, second = 0;
};

enum class Sent { counts, products };

Result<EncodingPlan> sum_plan(const TrainingBudget& budget, const TwoSumsShape& shape, Sent sent,
                              double noise_multiplier, double step) {
  EncodingPlan::Settings encoding;
  encoding.dimension = sent == Sent::counts ? shape.first : shape.second;
  encoding.clip = 1;
  (sent == Sent::counts ? encoding.nonnegative : encoding.products) = true;
  encoding.denominator = static_cast<double>(shape.cohort);
  encoding.devices = shape.group == 0 ? shape.cohort : shape.group;
  encoding.dropped = devices_in(budget.dropping, encoding.devices);
  encoding.corrupted = devices_in(budget.corrupted, encoding.devices);
  encoding.noise_multiplier = noise_multiplier;
  encoding.adjacency = privacy::Adjacency::replace_one;
  encoding.step = step;
  if (step == 0) {
    SOTTO_TRY(encoding.step, finest_step(encoding, budget.bits));
  }
  return EncodingPlan::create(encoding);
}

Result<TwoSums> with_noise(const TrainingBudget& budget, const TwoSumsShape& shape, double noise_multiplier,
                           const Steps& steps) {
  SOTTO_TRY(auto first,
            sum_plan(budget, shape, Sent::counts, shape.first_noise * noise_multiplier, steps.first));
  SOTTO_TRY(auto second, sum_plan(budget, shape, Sent::products, noise_multiplier, steps.second));
  const std::array both = {*first.event(), *second.event()};
  SOTTO_TRY(auto guarantee, budget.participations == 0
                                ? privacy::account_best(both, budget.delta, privacy::Adversary::server)
                                : worst_of_two_sums(both[0], both[1], budget.participations, budget.delta));
  return TwoSums{std::move(first), std::move(second), std::move(guarantee)};
}

}  // namespace

Result<privacy::Guarantee> worst_of_two_sums(privacy::PrivacyEvent first, privacy::PrivacyEvent second,
                                             std::uint64_t participations, double delta) {
  constexpr std::uint64_t most = 64;
  if (participations > most)
    return bad_input("{} participations in two kinds of sums: at most {} are accounted for", participations,
                     most);
  std::optional<privacy::Guarantee> worst;
  for (std::uint64_t firsts = 0; firsts <= participations; ++firsts) {
    std::vector<privacy::PrivacyEvent> events;
    first.count = firsts, second.count = participations - firsts;
    if (first.count > 0) events.push_back(first);
    if (second.count > 0) events.push_back(second);
    SOTTO_TRY(auto guarantee, privacy::account_best(events, delta, privacy::Adversary::server));
    if (!worst || guarantee.epsilon > worst->epsilon) worst = std::move(guarantee);
  }
  return *std::move(worst);
}

Result<TwoSums> calibrated_two_sums(const TrainingBudget& budget, const TwoSumsShape& shape,
                                    std::uint64_t population) {
  if (budget.epsilon <= 0)
    return bad_input("two private sums need a budget: give --epsilon (and delta, {:g} by default)",
                     budget.delta);
  SOTTO_CHECK(check_delta(budget.delta, population));
  // Epsilon hardly depends on the grid, and less noise needs no coarser one: the grid of the first noise that
  // is enough serves the search, and the finest is taken at its end.
  Steps steps;
  SOTTO_TRY(const double noise,
            privacy::smallest_noise(budget.epsilon, [&](double candidate) -> Result<double> {
              SOTTO_TRY(const TwoSums tried, with_noise(budget, shape, candidate, steps));
              if (steps.first == 0 && tried.guarantee.epsilon <= budget.epsilon)
                steps = {tried.first.settings().step, tried.second.settings().step};
              return tried.guarantee.epsilon;
            }));
  SOTTO_TRY(TwoSums good, with_noise(budget, shape, noise, {}));
  if (good.guarantee.epsilon > budget.epsilon) return with_noise(budget, shape, noise, steps);
  return good;
}

Result<std::pair<EncodingPlan, EncodingPlan>> two_sums_without_noise(const TrainingBudget& budget,
                                                                     const TwoSumsShape& shape) {
  SOTTO_TRY(auto first, sum_plan(budget, shape, Sent::counts, 0, 0));
  SOTTO_TRY(auto second, sum_plan(budget, shape, Sent::products, 0, 0));
  return std::pair(std::move(first), std::move(second));
}

}  // namespace sotto::secagg
