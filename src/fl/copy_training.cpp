#include "fl/copy_training.h"

#include <torch/csrc/autograd/autograd.h>

namespace sotto::fl {

using torch::Tensor;

void CopySettings::bind(SettingsTable& table) {
  table.add("local_learning_rate", local_learning_rate, {1e-9, 1e6}, "Step size on a device (alpha1)")
      .add("copies_mb", copies_mb, {1, 1000000}, "Memory for the users' copies that train at once, in MiB");
}

void CopySettings::bind_proximal(SettingsTable& table) {
  table.add("proximal", proximal, {0.0, 1e6}, "mu, how strongly a copy is held to the global model")
      .add_choice("proximal_norm", proximal_norm, {"squared", "paper"},
                  "The distance that is held: squared, or as PrivRec prints it");
}

namespace {

void require_gradients(model::TabularParts& parts) {
  for (Tensor& part : parts) part = part.detach().set_requires_grad(true);
}

// [U]: 1/2 over the distance of each copy from its start, 0 at the start.
Tensor half_inverse_distance(const model::TabularParts& differences) {
  Tensor squares = torch::zeros({differences.front().size(0)}, differences.front().options());
  for (const Tensor& part : differences) squares.add_(part.square().sum({1, 2}));
  return torch::where(squares > 0, 0.5 * squares.rsqrt(), torch::zeros_like(squares));
}

}  // namespace

TrainedCopies train_copies(const model::TabularModel& model, const model::TabularChunk& chunk,
                           const CopySettings& settings) {
  const model::TabularParts start = model.copies(chunk);
  model::TabularParts current;
  for (const Tensor& part : start) current.push_back(part.clone());
  TrainedCopies trained;
  trained.losses = torch::zeros({chunk.users}, start.front().options());
  bool moved = false;
  for (const model::TabularBatch& step : chunk.steps) {
    require_gradients(current);
    const Tensor losses = model.losses(current, step);
    const auto gradients = torch::autograd::grad({losses.sum()}, current, {}, c10::nullopt, false, true);
    torch::NoGradGuard no_grad;
    if (!moved) trained.losses.copy_(losses);
    const Tensor active = step.active * settings.local_learning_rate;
    model::TabularParts differences;
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

TrainedCopies meta_gradients(const model::TabularModel& model, const model::TabularChunk& chunk,
                             double local_learning_rate) {
  TORCH_CHECK(chunk.steps.size() == 2, "MAML needs a support and a query step");
  model::TabularParts start = model.copies(chunk);
  require_gradients(start);
  const Tensor support = model.losses(start, chunk.steps[0]);
  const auto inner = torch::autograd::grad({support.sum()}, start, {}, true, true, true);
  model::TabularParts adapted;
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

using torch::Tensor;

namespace {

// Codes as rows of the whole tables instead of rows that the user touches.
Tensor whole_codes(const Tensor& touched, const Tensor& codes) {
  return touched[0].index_select(0, codes.reshape(-1)).view(codes.sizes());
}

model::TabularBatch whole_batch(const model::TabularChunk& chunk, const model::TabularBatch& batch) {
  model::TabularBatch whole = batch;
  const std::size_t fields = batch.fields.size();
  for (std::size_t f = 0; f < fields; ++f)
    whole.fields[f].codes = whole_codes(chunk.touched[f], batch.fields[f].codes);
  whole.history = whole_codes(chunk.touched[fields], batch.history);
  whole.items = whole_codes(chunk.touched[fields + 1], batch.items);
  return whole;
}

Tensor flattened(const model::TabularParts& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.detach().reshape(-1));
  return torch::cat(flat);
}

}  // namespace

Tensor train_alone(const model::TabularModel& model, const model::TabularInputs& inputs,
                   const model::TabularTask& task, const CopySettings& settings) {
  const model::TabularChunk chunk = model::make_chunk(inputs, {&task, 1}, model.parts().front().device());
  model::TabularParts own;
  for (const Tensor& part : model.parts()) own.push_back(part.detach().unsqueeze(0).clone().requires_grad_());
  const Tensor start = flattened(own);
  for (const model::TabularBatch& step : chunk.steps) {
    const Tensor distance = flattened(own) - start;
    Tensor loss = model.losses(own, whole_batch(chunk, step)).sum();
    const double norm = distance.norm().item<double>();
    if (settings.proximal > 0 && norm > 0) {
      Tensor squares = torch::zeros({}, start.options());
      std::int64_t offset = 0;
      for (const Tensor& part : own) {
        const Tensor from = start.narrow(0, offset, part.numel()).view(part.sizes());
        squares = squares + (part - from).square().sum();
        offset += part.numel();
      }
      loss = loss +
             0.5 * settings.proximal * (settings.proximal_norm == "paper" ? torch::sqrt(squares) : squares);
    }
    for (Tensor& part : own) part.mutable_grad().reset();
    loss.backward();
    torch::NoGradGuard no_grad;
    for (Tensor& part : own)
      if (part.grad().defined()) part.sub_(part.grad(), settings.local_learning_rate);
  }
  return flattened(own) - start;
}

}  // namespace sotto::fl
