#pragma once
// Consume-once, mergeable weighted mean of updates: accumulate -> merge -> report. The report refuses below
// the minimum cohort, so that no single user's update is ever looked at by accident.

#include <cstdint>

#include "base/result.h"
#include "model/tensor.h"

namespace sotto {

class WeightedMean {
 public:
  explicit WeightedMean(std::uint64_t minimum_clients = 1) : minimum_clients_(minimum_clients) {}

  void add(const torch::Tensor& update, double weight);
  // Many clients at once, already multiplied by their weights and summed.
  void add_sum(const torch::Tensor& weighted_sum, double weight, std::uint64_t clients);
  void merge(WeightedMean&& other);

  std::uint64_t clients() const { return clients_; }
  Result<torch::Tensor> report() &&;

 private:
  torch::Tensor sum_;
  double weight_ = 0;
  std::uint64_t clients_ = 0, minimum_clients_;
};

}  // namespace sotto
