#pragma once
// One optimiser for the first part of the parameters and another for the rest.

#include "fl/server_optimiser.h"

namespace sotto {

class SplitOptimiser final : public ServerOptimiser {
 public:
  // first: of the second part.
  SplitOptimiser(std::unique_ptr<ServerOptimiser> front, std::unique_ptr<ServerOptimiser> back,
                 std::int64_t first)
      : front_(std::move(front)), back_(std::move(back)), first_(first) {}

  void step(torch::Tensor& parameters, const torch::Tensor& direction, std::uint32_t round) override {
    torch::Tensor front = parameters.slice(0, 0, first_), back = parameters.slice(0, first_);
    front_->step(front, direction.slice(0, 0, first_), round);
    back_->step(back, direction.slice(0, first_), round);
  }
  std::vector<torch::Tensor*> state() override {
    std::vector<torch::Tensor*> all = front_->state();
    for (torch::Tensor* tensor : back_->state()) all.push_back(tensor);
    return all;
  }

 private:
  std::unique_ptr<ServerOptimiser> front_, back_;
  std::int64_t first_;
};

}  // namespace sotto
