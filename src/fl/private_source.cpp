#include "fl/private_source.h"

#include <algorithm>

#include "fl/simulated_sum.h"

namespace sotto {

void PrivateSource::follow(const BoundRule& rule) {
  rule_ = rule;
  bound_.fill_(rule.initial);
}

// A bound that never moves is a setting, not state.
std::vector<torch::Tensor*> PrivateSource::state() {
  if (!plan_.clip_bit()) return {};
  return {&bound_};
}

Result<RoundUpdate> PrivateSource::round(std::uint32_t round) {
  SOTTO_TRY(const auto cohort, cohorts_.sample(round, plan_.settings().dropped));
  SimulatedSum sum(plan_, seed_, round);
  RoundUpdate update;
  const auto add = [&](const UserUpdate& own) -> Status {
    update.loss += own.loss;
    update.samples += own.samples;
    return sum.add(own.user, own.direction / bound());
  };
  SOTTO_CHECK(training_.each_update(round, cohort, add));
  SOTTO_TRY(const torch::Tensor mean, sum.mean());
  update.direction = (mean * bound()).to(training_.values().device());
  if (const auto within = sum.fraction_within())
    bound_.fill_(std::max(rule_.smallest, bound() - rule_.rate * (*within - rule_.quantile)));
  update.loss /= static_cast<double>(std::max<std::uint64_t>(update.samples, 1));
  update.clients = cohort.size();
  update.bytes_down = static_cast<std::uint64_t>(training_.values().numel()) * sizeof(float);
  update.bytes_up = sum.bytes_up();
  return update;
}

}  // namespace sotto
