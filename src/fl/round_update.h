#pragma once
// The seam between the round engine and whoever computes updates: simulated devices, a central trainer, or
// real devices over the network.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "model/tensor.h"

namespace sotto::fl {

// What one round brings: the direction to descend, already averaged, and what it cost.
struct RoundUpdate {
  torch::Tensor direction;  // [P]
  double loss = 0;          // mean training loss of the round
  std::uint64_t clients = 0, samples = 0;
  std::uint64_t bytes_down = 0, bytes_up = 0;  // per client, exact encoded sizes
};

// Asked for one round after the other. Without secret noise an update follows from (current parameters,
// state, round), which is what makes a resumed run continue bit for bit. With it a round is a release that
// cannot be asked for again: the engine never does once anything of it has reached the disk.
class UpdateSource {
 public:
  virtual ~UpdateSource() = default;
  virtual Result<RoundUpdate> round(std::uint32_t round) = 0;
  // What a checkpoint must keep beside the parameters, such as an adaptive bound. Most have none.
  virtual std::vector<torch::Tensor*> state() { return {}; }
};

// Whoever computes what single users would send: gradients or differences of weights. Per-user clipping and
// noise stand behind this seam and need to know nothing about models.
struct UserUpdate {
  data::UserId user = 0;
  torch::Tensor direction;  // [P], to descend along; the next user may overwrite it
  double loss = 0;          // summed over the samples
  std::uint64_t samples = 0;
};

// The updates of many users as one tensor, on the device they were computed on.
struct UpdateBlock {
  std::span<const data::UserId> users;  // U
  torch::Tensor directions;             // [U, P]; the next block may overwrite it
  std::span<const double> losses;       // [U], as in UserUpdate
  std::span<const std::uint64_t> samples;
};

// Pure in (current parameters, round, user); not thread-safe.
class UserUpdates {
 public:
  virtual ~UserUpdates() = default;
  // Calls take() for every user in the order given; its first failure ends the walk and is returned.
  virtual Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                             const std::function<Status(const UserUpdate&)>& take) = 0;
  // The same, many at a time. Unless an implementation has them side by side anyway, they are copied into a
  // tensor of at most block_bytes (but at least one update).
  static constexpr std::size_t block_bytes = std::size_t{64} << 20;
  virtual Status each_block(std::uint32_t round, std::span<const data::UserId> users,
                            const std::function<Status(const UpdateBlock&)>& take);
};

}  // namespace sotto::fl
