#include "fl/private_source.h"

#include "fl/simulated_sum.h"

namespace sotto {

Result<RoundUpdate> PrivateSource::round(std::uint32_t round) {
  SOTTO_TRY(const auto cohort, cohorts_.sample(round, plan_.settings().dropped));
  SimulatedSum sum(plan_, seed_, round);
  RoundUpdate update;
  const auto add = [&](UserId user, const LocalGradient& own) -> Status {
    update.loss += own.loss;
    update.samples += own.samples;
    return sum.add(user, own.gradient);
  };
  SOTTO_CHECK(training_.user_gradients(round, cohort, add));
  SOTTO_TRY(const torch::Tensor mean, sum.mean());
  const auto& parameters = training_.parameters().values();
  update.direction = mean.to(parameters.device());
  update.loss /= static_cast<double>(std::max<std::uint64_t>(update.samples, 1));
  update.clients = cohort.size();
  update.bytes_down = static_cast<std::uint64_t>(parameters.numel()) * sizeof(float);
  update.bytes_up = sum.bytes_up();
  return update;
}

}  // namespace sotto
