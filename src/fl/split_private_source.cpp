#include "fl/split_private_source.h"

#include <numeric>

#include "fl/received.h"
#include "fl/simulated_sum.h"

namespace sotto {

using torch::Tensor;

SplitPrivateSource::SplitPrivateSource(EncodingPlan plan, CohortSampler sampler, std::uint64_t participations,
                                       SplitTraining& training, std::uint64_t catalogue, std::uint64_t seed)
    : plan_(std::move(plan)),
      cohorts_(std::move(sampler), participations),
      training_(training),
      items_(catalogue),
      seed_(seed) {
  std::iota(items_.begin(), items_.end(), ItemId{0});
}

Result<RoundUpdate> SplitPrivateSource::round(std::uint32_t round) {
  SOTTO_TRY(const auto cohort, cohorts_.sample(round, plan_.settings().dropped));
  const Received vectors = sent_as_bytes(training_.infer(items_));
  const Received user = vector_sent_as_bytes(training_.user_encoder());
  SimulatedSum sum(plan_, seed_, round);
  RoundUpdate update;
  Tensor own_update = torch::empty({static_cast<std::int64_t>(plan_.settings().dimension)});
  const auto add = [&](UserId device, const DeviceGradients& own) -> Status {
    write_device_update(own, items_, own_update);
    update.loss += own.loss;
    update.samples += own.samples;
    return sum.add(device, own_update);
  };
  SOTTO_CHECK(training_.devices(round, cohort, items_, vectors.values, user.values, add));
  SOTTO_TRY(const Tensor mean, sum.mean());
  update.direction = training_.whole_gradient(items_, mean).clone();
  update.loss /= static_cast<double>(std::max<std::uint64_t>(update.samples, 1));
  update.clients = cohort.size();
  update.bytes_down = vectors.bytes + user.bytes;
  update.bytes_up = sum.bytes_up();
  return update;
}

}  // namespace sotto
