#include "model/interactions/tabular_model.h"

#include <torch/csrc/autograd/autograd.h>

#include "model/layers/layers.h"

namespace sotto::model {

using torch::Tensor;

void TabularShape::bind(SettingsTable& table) {
  table.add("embedding", embedding, {1, 4096}, "Size of every embedding")
      .add("hidden", hidden, {1, 65536}, "Units of every hidden layer")
      .add("layers", layers, {1, 64}, "Hidden layers")
      .add("embedding_scale", embedding_scale, {1e-6, 10.0}, "Standard deviation that embeddings start with");
}

// Parts: a table per field; with a history p, q, c and r; then W_1 b_1 ... W_layers b_layers W_o b_o.
TabularModel::TabularModel(const TabularShape& shape, const TabularInputs& inputs)
    : remembers_(reads_history(inputs.choice)),
      fields_(inputs.field_count()),
      embedding_(shape.embedding),
      layers_(shape.layers) {
  const auto table = [&](std::int64_t rows) {
    return torch::randn({std::max<std::int64_t>(rows, 1), shape.embedding}) * shape.embedding_scale;
  };
  const int fields = static_cast<int>(fields_);
  for (int field = 0; field < fields; ++field)
    add_part("field" + std::to_string(field), table(inputs.values_of(static_cast<std::size_t>(field))),
             field);
  if (remembers_) {
    add_part("remembered", table(inputs.items), fields);
    add_part("scored", table(inputs.items), fields + 1);
    add_part("bias", torch::zeros({inputs.items, 1}), fields + 1);
    add_part("again", torch::zeros({1, 1}), not_a_table);
  }
  std::int64_t width = static_cast<std::int64_t>(fields_) * shape.embedding + tabular_numbers(inputs.choice) +
                       (remembers_ ? shape.embedding : 0);
  for (std::int64_t layer = 1; layer <= shape.layers; ++layer, width = shape.hidden) {
    add_part("weight" + std::to_string(layer), glorot_uniform(width, shape.hidden), not_a_table);
    add_part("bias" + std::to_string(layer), torch::zeros({1, shape.hidden}), not_a_table);
  }
  // Beside the product h·q the network starts silent, and says what the product cannot.
  add_part("weight_out", remembers_ ? torch::zeros({width, 1}) : glorot_uniform(width, 1), not_a_table);
  add_part("bias_out", torch::zeros({1, 1}), not_a_table);
}

void TabularModel::add_part(const std::string& name, const Tensor& start, int key_space) {
  parts_.push_back(register_parameter(name, start));
  key_spaces_.push_back(key_space);
}

TabularParts TabularModel::copies(const TabularChunk& chunk) const {
  torch::NoGradGuard no_grad;
  TabularParts copies;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Tensor& part = parts_[i];
    if (key_spaces_[i] == not_a_table) {
      copies.push_back(part.unsqueeze(0).repeat({chunk.users, 1, 1}));
    } else {
      const Tensor& rows = chunk.touched[static_cast<std::size_t>(key_spaces_[i])];
      copies.push_back(
          part.index_select(0, rows.reshape(-1)).view({chunk.users, rows.size(1), part.size(1)}));
    }
  }
  return copies;
}

void TabularModel::add_differences(const TabularChunk& chunk, const TabularParts& differences,
                                   const Tensor& scale, Tensor& flat) const {
  torch::NoGradGuard no_grad;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Tensor& part = parts_[i];
    Tensor target = flat.narrow(0, offset, part.numel()).view(part.sizes());
    const Tensor scaled = differences[i] * scale.view({-1, 1, 1});
    if (key_spaces_[i] == not_a_table) {
      target.add_(scaled.sum(0));
    } else {
      const Tensor rows = chunk.touched[static_cast<std::size_t>(key_spaces_[i])].reshape(-1);
      target.add_(
          torch::embedding_dense_backward(scaled.view({-1, part.size(1)}), rows, part.size(0), -1, false));
    }
    offset += part.numel();
  }
}

Tensor TabularModel::differences_of(const TabularChunk& chunk, const TabularParts& differences,
                                    std::int64_t first, std::int64_t count) const {
  torch::NoGradGuard no_grad;
  std::int64_t size = 0, offset = 0;
  for (const Tensor& part : parts_) size += part.numel();
  Tensor flat = torch::zeros({count, size}, parts_.front().options().requires_grad(false));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Tensor& part = parts_[i];
    Tensor target = flat.narrow(1, offset, part.numel()).view({count, part.size(0), part.size(1)});
    const Tensor own = differences[i].narrow(0, first, count);
    if (key_spaces_[i] == not_a_table) {
      target.copy_(own);
    } else {  // rows that only fill up have difference zero
      const Tensor& touched = chunk.touched[static_cast<std::size_t>(key_spaces_[i])];
      target.scatter_add_(1, touched.narrow(0, first, count).unsqueeze(2).expand_as(own), own);
    }
    offset += part.numel();
  }
  return flat;
}

TabularParts TabularModel::personal(const TabularChunk& chunk, const TabularParts& copies,
                                    std::int64_t u) const {
  torch::NoGradGuard no_grad;
  TabularParts whole;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (key_spaces_[i] == not_a_table) {
      whole.push_back(copies[i].narrow(0, u, 1));
      continue;
    }
    const Tensor rows = chunk.touched[static_cast<std::size_t>(key_spaces_[i])][u];
    Tensor difference = copies[i][u] - parts_[i].index_select(0, rows);
    whole.push_back(
        (parts_[i] + torch::embedding_dense_backward(difference, rows, parts_[i].size(0), -1, false))
            .unsqueeze(0));
  }
  return whole;
}

namespace {

// Rows `codes` [U, ...] of the copies' tables [U, R, C]: [U * ..., C].
Tensor rows_of(const Tensor& tables, const Tensor& codes) {
  const std::int64_t copies = tables.size(0), rows = tables.size(1);
  const Tensor first = torch::arange(copies, codes.options()).mul_(rows).view({-1, 1});
  return torch::embedding(tables.reshape({copies * rows, tables.size(2)}),
                          (codes.reshape({copies, -1}) + first).view(-1));
}

}  // namespace

Tensor TabularModel::logits(const TabularParts& copies, const TabularBatch& batch) const {
  if (!remembers_) return logits_with(copies, batch, {});
  const std::int64_t users = batch.labels.size(0), width = batch.labels.size(1);
  const Tensor past = rows_of(copies[fields_], batch.history).view({users, -1, embedding_});
  const Tensor reader = (past * batch.history_weights.unsqueeze(2)).sum(1, true);
  return logits_with(copies, batch,
                     reader * rows_of(copies[fields_ + 1], batch.items).view({users, width, embedding_}));
}

TabularModel::LinearForm TabularModel::linear_form(const TabularInputs& inputs) const {
  TabularInputs nobody = inputs;
  for (auto* fields : {&nobody.user, &nobody.context}) {
    for (TabularField& field : *fields) {
      field.offsets = {0, 0};
      field.codes.clear();
    }
  }
  TabularParts whole;
  for (const Tensor& part : parts_) whole.push_back(part.detach().unsqueeze(0));
  const torch::Device device = parts_.front().device();
  const TabularBatch batch = catalogue_batch(nobody, 0, 0, {}, device);
  const Tensor product =
      torch::zeros({1, inputs.items, embedding_}, parts_.front().options()).requires_grad_(true);
  const Tensor logits = logits_with(whole, batch, product);
  const Tensor slopes = torch::autograd::grad({logits.sum()}, {product}).front();
  return {whole[fields_][0], whole[fields_ + 1][0] * slopes[0], logits.detach()[0]};
}

Tensor TabularModel::logits_with(const TabularParts& copies, const TabularBatch& batch,
                                 const Tensor& product) const {
  const std::int64_t users = batch.labels.size(0), width = batch.labels.size(1);
  std::size_t next = fields_ + (remembers_ ? 4 : 0);
  const Tensor &first = copies[next], &first_bias = copies[next + 1];
  const std::int64_t hidden = first.size(2);
  std::int64_t column = 0;
  const auto slice = [&](std::int64_t columns) {
    column += columns;
    return first.narrow(1, column - columns, columns);
  };

  Tensor sum = first_bias.expand({users, width, hidden});
  // Tables have far fewer rows than batches: multiply them by their slice of W_1 first, then look up.
  for (std::size_t f = 0; f < fields_; ++f) {
    const auto& [codes, weights] = batch.fields[f];
    const Tensor values = rows_of(torch::bmm(copies[f], slice(embedding_)), codes);
    sum = sum + (values.view({users, width, -1, hidden}) * weights.unsqueeze(3)).sum(2);
  }
  if (batch.numbers.size(2) > 0) sum = sum + torch::bmm(batch.numbers, slice(batch.numbers.size(2)));

  Tensor direct;
  if (remembers_) {
    sum = sum + torch::bmm(product, slice(embedding_));
    direct = product.sum(2) + rows_of(copies[fields_ + 2], batch.items).view({users, width}) +
             batch.numbers.select(2, 0) * copies[fields_ + 3].view({users, 1});
  }
  Tensor active = torch::relu(sum);
  for (std::int64_t layer = 2; layer <= layers_; ++layer) {
    next += 2;
    active = torch::relu(torch::bmm(active, copies[next]) + copies[next + 1]);
  }
  const Tensor out = (torch::bmm(active, copies[next + 2]) + copies[next + 3]).squeeze(2);
  return remembers_ ? out + direct : out;
}

Tensor TabularModel::losses(const TabularParts& copies, const TabularBatch& batch) const {
  const Tensor entropy = torch::binary_cross_entropy_with_logits(logits(copies, batch), batch.labels, {}, {},
                                                                 at::Reduction::None);
  return (entropy * batch.weights).sum(1);
}

}  // namespace sotto::model
