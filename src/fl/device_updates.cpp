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

// A feature cut down to some of its rows.
struct CutField {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> codes;
  CutField(const model::TabularField& field, std::span<const std::uint64_t> rows) {
    for (const std::uint64_t row : rows) {
      const auto values = field.of(row);
      codes.insert(codes.end(), values.begin(), values.end());
      offsets.push_back(codes.size());
    }
  }
};

}  // namespace

// Samples of one impression stand together, and all clicks of it are samples or none is.
EventsOnDevice impressions_on_devices(const data::Dataset& dataset, const TrainingData& data) {
  return [&dataset, &data](data::UserId user) {
    local::OwnEvents own;
    if (!std::binary_search(data.users.begin(), data.users.end(), user)) return own;
    const std::vector<data::TrainingSample>& samples = data.of(user);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i > 0 && samples[i].impression == samples[i - 1].impression) continue;
      const data::Impression impression = dataset.impression(samples[i].impression);
      own.impressions.push_back({impression.history, impression.shown, impression.clicked});
    }
    return own;
  };
}

EventsOnDevice rows_on_devices(const data::Dataset& dataset, const InteractionData& data,
                               const model::TabularInputs& inputs) {
  return [&dataset, &data, &inputs, fields = std::vector<CutField>()](data::UserId user) mutable {
    local::OwnEvents own;
    if (!std::binary_search(data.users.begin(), data.users.end(), user)) return own;
    const UserRows& rows = data.of(user);
    std::vector<std::uint64_t> all = rows.positive;
    all.insert(all.end(), rows.negative.begin(), rows.negative.end());
    std::sort(all.begin(), all.end());  // as they happened
    for (const std::uint64_t row : all)
      own.rows.push_back({dataset.interactions().items[row],
                          std::binary_search(rows.positive.begin(), rows.positive.end(), row)});
    fields.clear();
    fields.reserve(inputs.user.size() + inputs.context.size());
    const std::uint64_t self = user;
    for (const auto& field : inputs.user) {
      fields.emplace_back(field, std::span(&self, 1));
      own.user_fields.push_back({fields.back().offsets, fields.back().codes});
    }
    for (const auto& field : inputs.context) {
      fields.emplace_back(field, all);
      own.context_fields.push_back({fields.back().offsets, fields.back().codes});
    }
    return own;
  };
}

Result<std::unique_ptr<DeviceUpdates>> DeviceUpdates::create(DeviceTask task, const DeviceFold& fold,
                                                             EventsOnDevice events, std::uint64_t seed) {
  SOTTO_TRY(auto trainer, task.trainer());
  return std::unique_ptr<DeviceUpdates>(
      new DeviceUpdates(std::move(task), std::move(trainer), fold, std::move(events), seed));
}

DeviceUpdates::DeviceUpdates(DeviceTask task, std::unique_ptr<local::LocalTrainer> trainer,
                             const DeviceFold& fold, EventsOnDevice events, std::uint64_t seed)
    : task_(std::move(task)),
      trainer_(std::move(trainer)),
      fold_(fold),
      events_(std::move(events)),
      vectors_(as_fetched(task_.vectors)),
      words_(as_fetched(task_.words)),
      title_words_(task_.titles.tokens.begin(), task_.titles.tokens.end()),
      title_offsets_(task_.titles.offsets.begin(), task_.titles.offsets.end()),
      seed_(seed) {}

Status DeviceUpdates::each_update(std::uint32_t round, std::span<const data::UserId> users,
                                  const std::function<Status(const UserUpdate&)>& take) {
  const Fetched& version = fold_.fetched();
  const torch::Tensor values = as_fetched(version.numbers.values);
  const torch::Tensor items = version.items ? as_fetched(version.items->values) : vectors_;
  local::RoundInputs inputs{{values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                            rows_of(items),
                            rows_of(words_),
                            {title_words_, title_offsets_}};
  for (const auto& field : task_.item_fields) inputs.item_fields.push_back({field.offsets, field.codes});
  inputs.round = round + std::uint64_t{1};
  for (const data::UserId user : users) {
    SeededRandom draws(seed_, Purpose::negative_sampling, round, user);
    auto trained = trainer_->train(inputs, events_(user), draws, &interrupted);
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
