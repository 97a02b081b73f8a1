#pragma once
// Many users train their own copies of one model at once (U copies, one batched product per layer). The loop
// over users one by one that this must equal is in the tests.

#include <string>

#include "base/settings.h"
#include "model/interactions/tabular_model.h"

namespace sotto::fl {

struct CopySettings {
  double local_learning_rate = 1.0, proximal = 0;
  std::string proximal_norm = "squared";
  std::int64_t copies_mb = 256;
  void bind(SettingsTable& table);
  void bind_proximal(SettingsTable& table);  // where copies take more than one step
};

struct TrainedCopies {
  model::TabularParts differences;  // [U, R, columns]: end - start
  torch::Tensor losses;             // [U], of the first step, before anything was learned
};

// Every copy descends its own loss L + (μ/2)‖θ − θ0‖² (proximal_norm = squared), or + (μ/2)‖θ − θ0‖ with
// gradient 0 at θ0 (PrivRec as printed), one step per step of the chunk.
TrainedCopies train_copies(const model::TabularModel& model, const model::TabularChunk& chunk,
                           const CopySettings& settings);

// MAML (Finn et al. 2017): −∇_θ L(θ − α∇L(θ; first step); second step) per copy, with the second-order term,
// as a difference to add. A chunk has exactly two steps.
TrainedCopies meta_gradients(const model::TabularModel& model, const model::TabularChunk& chunk,
                             double local_learning_rate);

// The readable loop that train_copies() must equal: one user after another, each on a copy of the whole
// model. Tests compare with it, and `sotto bench copies` measures against it.

// θ_τ − θ0 of one user as one vector laid out as the parameters, [P].
torch::Tensor train_alone(const model::TabularModel& model, const model::TabularInputs& inputs,
                          const model::TabularTask& task, const CopySettings& settings);

}  // namespace sotto::fl
