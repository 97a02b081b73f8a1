#pragma once
// The secure sum of one group in one process: every device's update is encoded as the protocol of secagg
// encodes it and added modulo 2^b; the server decodes the sum. Masks are left out because they cancel.
//
// Draws are addressed by (seed, round, user), so a round can be asked for again. Devices are encoded many at
// a time on all threads; whole numbers are added, so the sum is the same to the last bit in any order and on
// any number of threads. One caller at a time.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "model/tensor.h"
#include "secagg/vectors/update_encoder.h"

namespace sotto {

class SimulatedSum {
 public:
  SimulatedSum(EncodingPlan plan, std::uint64_t seed, std::uint32_t round);

  // update: [dimension], on any device; it is copied. An update that cannot be encoded fails this call or a
  // later one, mean() at the latest.
  Status add(UserId user, const torch::Tensor& update);
  // The sum divided by the plan's public denominator: [dimension], float. Once.
  Result<torch::Tensor> mean();
  // With a clip bit, after mean(): the noisy share of devices within the bound.
  std::optional<double> fraction_within() const { return fraction_within_; }
  std::uint64_t bytes_up() const;  // per device

 private:
  struct Waiting {
    UserId user;
    std::vector<float> update;
  };
  Status encode_waiting();

  UpdateEncoder device_;
  std::uint64_t seed_;
  std::uint32_t round_;
  std::vector<std::uint32_t> sum_;
  std::vector<Waiting> waiting_;
  std::optional<double> fraction_within_;
};

}  // namespace sotto
