#pragma once
// Everything a run needs to go on bit for bit: parameters, optimiser state, how far it is. All randomness is
// addressed by (seed, round), so no generator state is stored.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "model/tensor.h"

namespace sotto {

struct Checkpoint {
  std::uint32_t rounds_done = 0;
  std::uint32_t best_round = 0;
  double best_score = -1;
  double seconds = 0;  // of training so far
  std::int64_t threads = 0;
  std::string layout;  // FlatParameters::layout of the model
  torch::Tensor parameters;
  std::vector<torch::Tensor> optimiser;
};

Status save_checkpoint(const fs::path& path, const Checkpoint& checkpoint);
// Refuses a file whose layout is not `layout`.
Result<Checkpoint> load_checkpoint(const fs::path& path, const std::string& layout);

}  // namespace sotto
