#pragma once
// Server optimisers on the flat parameter vector. All descend along the round's direction; their state is a
// list of tensors, so that checkpoints need to know nothing about them.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "model/tensor.h"

namespace sotto::fl {

struct OptimiserSettings {
  std::string optimiser = "fedadam", second_moment = "standard";
  double learning_rate = 0.001, beta1 = 0.9, beta2 = 0.99, tau = 1e-8, momentum = 0.0;
  std::int64_t halve_every = 0;
  // The step size of a round. A function of the round alone, so that a resumed or prolonged run keeps its
  // schedule.
  double rate_at(std::uint32_t round) const;
  void bind(SettingsTable& table);
};

class ServerOptimiser {
 public:
  virtual ~ServerOptimiser() = default;
  virtual void step(torch::Tensor& parameters, const torch::Tensor& direction, std::uint32_t round) = 0;
  virtual std::vector<torch::Tensor*> state() = 0;
};

// sgd      theta -= lr * (momentum buffer of g)
// fedavg   theta -= g, for updates that are differences of weights: their plain average
// fedadam  m = b1 m + (1-b1) g; v = b2 v + (1-b2) s; theta -= lr m / (sqrt(v) + tau); no bias correction.
//          s = g^2 (standard) or m^2 (paper: as Efficient-FedRec prints it)
// adam     Kingma & Ba with bias correction
Result<std::unique_ptr<ServerOptimiser>> make_optimiser(const OptimiserSettings& settings,
                                                        const torch::Tensor& parameters);

// One optimiser for the first part of the parameters and another for the rest.
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

// Another optimiser's steps; the last one also replaces the parameters by the mean of the iterates from
// `first` on. Noise of single rounds averages out, and what is averaged was released already: no further
// privacy is spent.
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

}  // namespace sotto::fl
