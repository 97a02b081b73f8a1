#pragma once
// The device's own code over simulated users: what they send is computed by a local trainer (src/local) from
// the events that a device would have, so that a simulated round and a networked one give the same bits.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fl/device_fold.h"
#include "fl/interaction_data.h"
#include "fl/round_update.h"
#include "fl/training_data.h"

namespace sotto::fl {

// What the device of a user has, valid until the next call. A user that does not train has nothing.
using EventsOnDevice = std::function<local::OwnEvents(data::UserId user)>;

// Both refer to everything they are given.
EventsOnDevice impressions_on_devices(const data::Dataset& dataset, const TrainingData& data);
EventsOnDevice rows_on_devices(const data::Dataset& dataset, const InteractionData& data,
                               const model::TabularInputs& inputs);

// Refers to the fold. Draws are addressed by (seed, Purpose::negative_sampling, round, user): what a user
// gets does not depend on who else is in the cohort.
class DeviceUpdates final : public UserUpdates {
 public:
  // Refuses a model whose layout is not the trainer's.
  static Result<std::unique_ptr<DeviceUpdates>> create(DeviceTask task, const DeviceFold& fold,
                                                       EventsOnDevice events, std::uint64_t seed);
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;

 private:
  DeviceUpdates(DeviceTask task, std::unique_ptr<local::LocalTrainer> trainer, const DeviceFold& fold,
                EventsOnDevice events, std::uint64_t seed);

  const DeviceTask task_;
  const std::unique_ptr<local::LocalTrainer> trainer_;
  const DeviceFold& fold_;
  const EventsOnDevice events_;
  const torch::Tensor vectors_, words_;  // float32, contiguous, on the CPU
  std::vector<std::uint32_t> title_words_;
  std::vector<std::uint64_t> title_offsets_;
  const std::uint64_t seed_;
};

}  // namespace sotto::fl
