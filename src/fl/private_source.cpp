#include "fl/private_source.h"

#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/sum_decoder.h"
#include "secagg/vectors/update_encoder.h"

namespace sotto {

PrivateSource::PrivateSource(EncodingPlan plan, CohortSampler sampler, std::uint64_t participations,
                             NewsTraining& training, std::uint64_t seed)
    : plan_(std::move(plan)),
      sampler_(std::move(sampler)),
      participations_(participations),
      training_(training),
      seed_(seed) {}

// Counts again from the first round when a run is resumed or an earlier round is asked for.
std::vector<UserId> PrivateSource::willing(std::uint32_t round) {
  if (counted_ > round) taken_part_.clear(), counted_ = 0;
  std::vector<UserId> present;
  while (counted_ <= round) {
    present.clear();
    for (const UserId user : sampler_.sample(counted_++))
      if (auto& times = taken_part_[user]; times < participations_) ++times, present.push_back(user);
  }
  return present;
}

Result<RoundUpdate> PrivateSource::round(std::uint32_t round) {
  const std::vector<UserId> cohort = willing(round);
  if (cohort.size() + plan_.settings().dropped < plan_.settings().devices)
    return failed(
        "round {}: {} of {} devices stayed away because they may take part only {} times: raise "
        "participations or "
        "dropping",
        round, plan_.settings().devices - cohort.size(), plan_.settings().devices, participations_);
  const UpdateEncoder device(plan_);
  std::vector<std::uint32_t> sum(plan_.entries(), 0);
  RoundUpdate update;
  const auto add = [&](UserId user, const LocalGradient& own) -> Status {
    const torch::Tensor gradient = own.gradient.to(torch::kCPU, torch::kFloat32).contiguous();
    SeededRandom draws(seed_, Purpose::noise, round, user);
    SOTTO_TRY(const auto entries,
              device.encode(std::span<const float>(gradient.data_ptr<float>(), plan_.settings().dimension),
                            DeviceRandom::simulated(draws)));
    SOTTO_CHECK(add_entries(std::span(sum), entries));
    update.loss += own.loss;
    update.samples += own.samples;
    return {};
  };
  SOTTO_CHECK(training_.user_gradients(round, cohort, add));
  reduce_entries(std::span(sum), plan_.modulus());
  SumDecoder server(plan_);
  SOTTO_CHECK(server.add_group(sum));
  SOTTO_TRY(const DecodedMean mean, server.decode());

  const auto& parameters = training_.parameters().values();
  update.direction = torch::tensor(mean.update, torch::kFloat32).to(parameters.device());
  update.loss /= static_cast<double>(std::max<std::uint64_t>(update.samples, 1));
  update.clients = cohort.size();
  update.bytes_down = static_cast<std::uint64_t>(parameters.numel()) * sizeof(float);
  update.bytes_up = packed_bytes(plan_.entries(), plan_.modulus().bits());
  return update;
}

}  // namespace sotto
