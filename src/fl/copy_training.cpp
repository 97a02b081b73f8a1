#include "fl/copy_training.h"

#include <torch/csrc/autograd/autograd.h>

namespace sotto {

using torch::Tensor;

void CopySettings::bind(SettingsTable& table) {
  table.add("local_learning_rate", local_learning_rate, {1e-9, 1e6}, "Step size on a device (alpha1)")
      .add("proximal", proximal, {0.0, 1e6}, "mu, how strongly a copy is held to the global model")
      .add_choice("proximal_norm", proximal_norm, {"squared", "paper"},
                  "The distance that is held: squared, or as PrivRec prints it")
      .add("copies_mb", copies_mb, {1, 1000000}, "Memory for the users' copies that train at once, in MiB");
}

namespace {

void require_gradients(TabularParts& parts) {
  for (Tensor& part : parts) part = part.detach().set_requires_grad(true);
}

// [U]: 1/2 over the distance of each copy from its start, 0 at the start.
Tensor half_inverse_distance(const TabularParts& differences) {
  Tensor squares = torch::zeros({differences.front().size(0)}, differences.front().options());
  for (const Tensor& part : differences) squares.add_(part.square().sum({1, 2}));
  return torch::where(squares > 0, 0.5 * squares.rsqrt(), torch::zeros_like(squares));
}

}  // namespace

TrainedCopies train_copies(const TabularModel& model, const TabularChunk& chunk,
                           const CopySettings& settings) {
  const TabularParts start = model.copies(chunk);
  TabularParts current;
  for (const Tensor& part : start) current.push_back(part.clone());
  TrainedCopies trained;
  trained.losses = torch::zeros({chunk.users}, start.front().options());
  bool moved = false;
  for (const TabularBatch& step : chunk.steps) {
    require_gradients(current);
    const Tensor losses = model.losses(current, step);
    const auto gradients = torch::autograd::grad({losses.sum()}, current, {}, c10::nullopt, false, true);
    torch::NoGradGuard no_grad;
    if (!moved) trained.losses.copy_(losses);
    const Tensor active = step.active * settings.local_learning_rate;
    TabularParts differences;
    Tensor pull;
    if (settings.proximal > 0 && moved) {
      for (std::size_t i = 0; i < start.size(); ++i) differences.push_back(current[i] - start[i]);
      pull = active * settings.proximal;
      if (settings.proximal_norm == "paper") pull = pull * half_inverse_distance(differences);
    }
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (gradients[i].defined()) current[i].sub_(gradients[i] * active.view({-1, 1, 1}));
      if (pull.defined()) current[i].sub_(differences[i] * pull.view({-1, 1, 1}));
    }
    moved = true;
  }
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < start.size(); ++i)
    trained.differences.push_back(current[i].detach() - start[i]);
  return trained;
}

TrainedCopies meta_gradients(const TabularModel& model, const TabularChunk& chunk,
                             double local_learning_rate) {
  TORCH_CHECK(chunk.steps.size() == 2, "MAML needs a support and a query step");
  TabularParts start = model.copies(chunk);
  require_gradients(start);
  const Tensor support = model.losses(start, chunk.steps[0]);
  const auto inner = torch::autograd::grad({support.sum()}, start, {}, true, true, true);
  TabularParts adapted;
  for (std::size_t i = 0; i < start.size(); ++i)
    adapted.push_back(inner[i].defined() ? start[i] - local_learning_rate * inner[i] : start[i]);
  const Tensor query = model.losses(adapted, chunk.steps[1]);
  const auto outer = torch::autograd::grad({query.sum()}, start, {}, c10::nullopt, false, true);
  TrainedCopies trained;
  trained.losses = query.detach();
  for (std::size_t i = 0; i < start.size(); ++i)
    trained.differences.push_back(outer[i].defined() ? -outer[i] : torch::zeros_like(start[i]));
  return trained;
}

}  // namespace sotto
