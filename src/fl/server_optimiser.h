#pragma once
// Server optimisers on the flat parameter vector. All descend along the round's direction; their state is a
// list of tensors, so that checkpoints need to know nothing about them.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "model/tensor.h"

namespace sotto {

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

}  // namespace sotto
