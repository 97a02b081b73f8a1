#pragma once
// The seam between the round engine and whoever computes updates: simulated devices, a central trainer, or
// real devices over the network.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/tensor.h"

namespace sotto {

// What one round brings: the direction to descend, already averaged, and what it cost.
struct RoundUpdate {
  torch::Tensor direction;  // [P]
  double loss = 0;          // mean training loss of the round
  std::uint64_t clients = 0, samples = 0;
  std::uint64_t bytes_down = 0, bytes_up = 0;  // per client, exact encoded sizes
};

// Pure in (current parameters, state, round): asking twice for the same round gives the same update, which is
// what makes a resumed run continue bit for bit.
class UpdateSource {
 public:
  virtual ~UpdateSource() = default;
  virtual Result<RoundUpdate> round(std::uint32_t round) = 0;
  // What a checkpoint must keep beside the parameters, such as an adaptive bound. Most have none.
  virtual std::vector<torch::Tensor*> state() { return {}; }
};

}  // namespace sotto
