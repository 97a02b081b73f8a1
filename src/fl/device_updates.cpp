#include "fl/device_updates.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/random.h"
#include "fl/divergence.h"
#include "local/check_numbers.h"

namespace sotto::fl {

namespace {

torch::Tensor as_fetched(const torch::Tensor& rows) {
  return rows.defined() ? rows.detach().to(torch::kCPU, torch::kFloat32).contiguous() : torch::zeros({0, 0});
}

Eigen::Map<const local::Rows> rows_of(const torch::Tensor& rows) {
  return {rows.data_ptr<float>(), rows.size(0), rows.size(1)};
}

}  // namespace

Result<DeviceUpdates> DeviceUpdates::create(const data::Dataset& dataset, const TrainingData& data,
                                            const local::LocalTrainer& trainer,
                                            const model::FlatParameters& parameters,
                                            const DeviceInputs& inputs, std::uint64_t seed) {
  if (parameters.layout() != trainer.layout().text())
    return bad_input("the model trains {}and devices train {}: give the trainer the model's sizes",
                     parameters.layout(), trainer.layout().text());
  return DeviceUpdates(dataset, data, trainer, parameters, inputs, seed);
}

DeviceUpdates::DeviceUpdates(const data::Dataset& dataset, const TrainingData& data,
                             const local::LocalTrainer& trainer, const model::FlatParameters& parameters,
                             const DeviceInputs& inputs, std::uint64_t seed)
    : dataset_(dataset),
      data_(data),
      trainer_(trainer),
      parameters_(parameters),
      items_(as_fetched(inputs.items)),
      words_(as_fetched(inputs.words)),
      seed_(seed) {
  if (!inputs.titles) return;
  title_words_.assign(inputs.titles->tokens.begin(), inputs.titles->tokens.end());
  title_offsets_.assign(inputs.titles->offsets.begin(), inputs.titles->offsets.end());
}

local::RoundInputs DeviceUpdates::inputs_with(const torch::Tensor& parameters) const {
  return {{parameters.data_ptr<float>(), static_cast<std::size_t>(parameters.numel())},
          rows_of(items_),
          rows_of(words_),
          {title_words_, title_offsets_}};
}

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
  const local::RoundInputs inputs = inputs_with(values);
  for (const data::UserId user : users) {
    SeededRandom draws(seed_, Purpose::negative_sampling, round, user);
    auto trained = trainer_.train(inputs, events_of(user), draws, &interrupted);
    if (!trained && local::came_from_result(trained.error()))
      return diverged(round + 1, "a device's update", "Lower learning_rate");
    SOTTO_TRY(local::LocalUpdate own, std::move(trained));
    const torch::Tensor direction =
        torch::from_blob(own.direction.data(), {static_cast<std::int64_t>(own.direction.size())});
    SOTTO_CHECK(take({user, direction, own.loss, own.samples}));
  }
  return {};
}

}  // namespace sotto::fl
