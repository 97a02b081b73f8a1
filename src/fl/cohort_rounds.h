#pragma once
// Rounds in which the server sees sums of a cohort's encoded updates and nothing of a single device:
// order → gather → decode → clipping bound → fold. The sum is decoded exactly and divided by the plan's fixed
// public number. Whether devices are simulated, masked or far away is the gather's business (gather.h).

#include "fl/gather.h"
#include "fl/round_update.h"

namespace sotto::fl {

// What a round is about: made before it and used up after it by the server alone.
struct RoundTask {
  secagg::EncodingPlan plan;
  std::uint64_t bytes_down = 0;  // what every device must fetch
  std::uint64_t bytes_up = 0;    // what it tells beside its update
};

class RoundFold {
 public:
  virtual ~RoundFold() = default;
  // The plan of the round's sum, and what devices need to compute their updates at the current parameters.
  virtual Result<RoundTask> open(std::uint32_t round) = 0;
  // mean [dimension]: decoded, in units of the model. Returns the direction [P] to descend along.
  virtual Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean,
                                     const Gathered& gathered) = 0;
};

// A clipping bound that follows a quantile of the users' norms (Andrew et al. 2021): the plan's clip is 1, in
// units of the bound, and its clip bit says inside the same noisy sum how many users were within it.
//   S ← max(smallest, S − rate · (share within − quantile))
struct BoundRule {
  double initial = 1, smallest = 0, quantile = 0, rate = 0;
};

// Refers to fold and gather.
class CohortRounds final : public UpdateSource {
 public:
  CohortRounds(RoundFold& fold, Gather& gather) : fold_(fold), gather_(gather) {}
  // For plans with a clip bit.
  void follow(const BoundRule& rule);
  Result<RoundUpdate> round(std::uint32_t round) override;
  std::vector<torch::Tensor*> state() override;
  double bound() const { return bound_.item<double>(); }

 private:
  RoundFold& fold_;
  Gather& gather_;
  std::optional<BoundRule> rule_;
  torch::Tensor bound_ = torch::ones({1}, torch::kFloat64);  // one unit of the plan
};

}  // namespace sotto::fl
