#pragma once
// The device's own code over simulated users: what they send is computed by a local trainer (src/local) from
// the impressions that a device would have, so that a simulated round and a networked one give the same bits.

#include <cstdint>
#include <functional>
#include <span>

#include "fl/round_update.h"
#include "fl/training_data.h"
#include "local/local_trainer.h"
#include "model/flat_parameters.h"

namespace sotto::fl {

// Refers to everything it is given. Draws are addressed by (seed, Purpose::negative_sampling, round, user):
// what a user gets does not depend on who else is in the cohort.
class DeviceUpdates final : public UserUpdates {
 public:
  // items: [all items, D] as devices fetch them. Refuses a model whose layout is not the trainer's.
  static Result<DeviceUpdates> create(const data::Dataset& dataset, const TrainingData& data,
                                      const local::LocalTrainer& trainer,
                                      const model::FlatParameters& parameters, const torch::Tensor& items,
                                      std::uint64_t seed);

  // A user that is not among the data's users has no clicks and sends zeros.
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;

 private:
  DeviceUpdates(const data::Dataset& dataset, const TrainingData& data, const local::LocalTrainer& trainer,
                const model::FlatParameters& parameters, torch::Tensor items, std::uint64_t seed);
  local::OwnEvents events_of(data::UserId user) const;

  const data::Dataset& dataset_;
  const TrainingData& data_;
  const local::LocalTrainer& trainer_;
  const model::FlatParameters& parameters_;
  torch::Tensor items_;  // float32, contiguous, on the CPU
  std::uint64_t seed_;
};

}  // namespace sotto::fl
