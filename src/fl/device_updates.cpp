#include "fl/device_updates.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/random.h"

namespace sotto::fl {

Result<DeviceUpdates> DeviceUpdates::create(const data::Dataset& dataset, const TrainingData& data,
                                            const local::LocalTrainer& trainer,
                                            const model::FlatParameters& parameters,
                                            const torch::Tensor& items, std::uint64_t seed) {
  if (parameters.layout() != trainer.layout().text())
    return bad_input("the model trains {}and devices train {}: give the trainer the model's sizes",
                     parameters.layout(), trainer.layout().text());
  return DeviceUpdates(dataset, data, trainer, parameters,
                       items.detach().to(torch::kCPU, torch::kFloat32).contiguous(), seed);
}

DeviceUpdates::DeviceUpdates(const data::Dataset& dataset, const TrainingData& data,
                             const local::LocalTrainer& trainer, const model::FlatParameters& parameters,
                             torch::Tensor items, std::uint64_t seed)
    : dataset_(dataset),
      data_(data),
      trainer_(trainer),
      parameters_(parameters),
      items_(std::move(items)),
      seed_(seed) {}

// Samples of one impression stand together, and all clicks of it are samples or none is.
local::OwnEvents DeviceUpdates::events_of(data::UserId user) const {
  local::OwnEvents own;
  if (!std::binary_search(data_.users.begin(), data_.users.end(), user)) return own;
  const std::vector<data::TrainingSample>& samples = data_.of(user);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0 && samples[i].impression == samples[i - 1].impression) continue;
    const data::Impression impression = dataset_.impression(samples[i].impression);
    own.impressions.push_back({impression.history, impression.shown, impression.clicked});
  }
  return own;
}

Status DeviceUpdates::each_update(std::uint32_t round, std::span<const data::UserId> users,
                                  const std::function<Status(const UserUpdate&)>& take) {
  const torch::Tensor values = parameters_.values().detach().to(torch::kCPU).contiguous();
  const local::RoundInputs inputs{{values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                                  {items_.data_ptr<float>(), items_.size(0), items_.size(1)}};
  for (const data::UserId user : users) {
    SeededRandom draws(seed_, Purpose::negative_sampling, round, user);
    SOTTO_TRY(local::LocalUpdate own, trainer_.train(inputs, events_of(user), draws, &interrupted));
    const torch::Tensor direction =
        torch::from_blob(own.direction.data(), {static_cast<std::int64_t>(own.direction.size())});
    SOTTO_CHECK(take({user, direction, own.loss, own.samples}));
  }
  return {};
}

}  // namespace sotto::fl
