#include "fl/one_by_one_training.h"

namespace sotto {

using torch::Tensor;

namespace {

// Codes as rows of the whole tables instead of rows that the user touches.
Tensor whole_codes(const Tensor& touched, const Tensor& codes) {
  return touched[0].index_select(0, codes.reshape(-1)).view(codes.sizes());
}

TabularBatch whole_batch(const TabularChunk& chunk, const TabularBatch& batch) {
  TabularBatch whole = batch;
  const std::size_t fields = batch.fields.size();
  for (std::size_t f = 0; f < fields; ++f)
    whole.fields[f].codes = whole_codes(chunk.touched[f], batch.fields[f].codes);
  whole.history = whole_codes(chunk.touched[fields], batch.history);
  whole.items = whole_codes(chunk.touched[fields + 1], batch.items);
  return whole;
}

Tensor flattened(const TabularParts& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.detach().reshape(-1));
  return torch::cat(flat);
}

}  // namespace

Tensor train_alone(const TabularModel& model, const TabularInputs& inputs, const TabularTask& task,
                   const CopySettings& settings) {
  const TabularChunk chunk = make_chunk(inputs, {&task, 1}, model.parts().front().device());
  TabularParts own;
  for (const Tensor& part : model.parts()) own.push_back(part.detach().unsqueeze(0).clone().requires_grad_());
  const Tensor start = flattened(own);
  for (const TabularBatch& step : chunk.steps) {
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

}  // namespace sotto
