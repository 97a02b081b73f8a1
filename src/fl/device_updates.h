#pragma once
// The device's own code over simulated users: what they send is computed by a local trainer (src/local) from
// the impressions that a device would have, so that a simulated round and a networked one give the same bits.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fl/round_update.h"
#include "fl/training_data.h"
#include "local/local_trainer.h"
#include "model/flat_parameters.h"
#include "model/news/news_shape.h"

namespace sotto::fl {

// What devices fetch beside the parameters; what the trainer does not read may be left out.
struct DeviceInputs {
  torch::Tensor items;                      // [all items, D]
  torch::Tensor words;                      // [vocabulary, word size]
  const model::ItemText* titles = nullptr;  // of all items
};

// Refers to everything it is given, but for the inputs' tensors, which it keeps. Draws are addressed by
// (seed, Purpose::negative_sampling, round, user): what a user gets does not depend on who else is in the
// cohort.
class DeviceUpdates final : public UserUpdates {
 public:
  // Refuses a model whose layout is not the trainer's.
  static Result<DeviceUpdates> create(const data::Dataset& dataset, const TrainingData& data,
                                      const local::LocalTrainer& trainer,
                                      const model::FlatParameters& parameters, const DeviceInputs& inputs,
                                      std::uint64_t seed);

  // A user that is not among the data's users has no clicks and sends zeros.
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;

 private:
  DeviceUpdates(const data::Dataset& dataset, const TrainingData& data, const local::LocalTrainer& trainer,
                const model::FlatParameters& parameters, const DeviceInputs& inputs, std::uint64_t seed);
  local::RoundInputs inputs_with(const torch::Tensor& parameters) const;
  local::OwnEvents events_of(data::UserId user) const;

  const data::Dataset& dataset_;
  const TrainingData& data_;
  const local::LocalTrainer& trainer_;
  const model::FlatParameters& parameters_;
  torch::Tensor items_, words_;  // float32, contiguous, on the CPU
  std::vector<std::uint32_t> title_words_;
  std::vector<std::uint64_t> title_offsets_;
  std::uint64_t seed_;
};

}  // namespace sotto::fl
