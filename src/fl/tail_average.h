#pragma once
// Another optimiser's steps; the last one also replaces the parameters by the mean of the iterates from
// `first` on. Noise of single rounds averages out, and what is averaged was released already: no further
// privacy is spent.

#include "fl/server_optimiser.h"

namespace sotto {

class TailAverage final : public ServerOptimiser {
 public:
  // Rounds [first, rounds) are averaged, first < rounds.
  TailAverage(std::unique_ptr<ServerOptimiser> steps, const torch::Tensor& parameters, std::uint32_t first,
              std::uint32_t rounds)
      : steps_(std::move(steps)), sum_(torch::zeros_like(parameters)), first_(first), rounds_(rounds) {}

  void step(torch::Tensor& parameters, const torch::Tensor& direction, std::uint32_t round) override {
    steps_->step(parameters, direction, round);
    if (round >= first_) sum_ += parameters;
    if (round + 1 == rounds_) parameters.copy_(sum_ / static_cast<double>(rounds_ - first_));
  }
  std::vector<torch::Tensor*> state() override {
    auto all = steps_->state();
    all.push_back(&sum_);
    return all;
  }

 private:
  std::unique_ptr<ServerOptimiser> steps_;
  torch::Tensor sum_;
  std::uint32_t first_, rounds_;
};

}  // namespace sotto
