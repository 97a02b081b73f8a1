#include "model/layers/layers.h"

#include <cmath>
#include <limits>

#include "model/cohort/weighted_rows.h"
#include "model/tensor.h"

namespace sotto::model {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

// A row has one place and a place one row, so both ways are copies in both directions. Torch's own gradient
// of a selection adds instead, and every blank place to the same row.
struct PadFunction : torch::autograd::Function<PadFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& row_at,
                        const Tensor& places) {
    context->save_for_backward({places});
    return rows.index_select(0, row_at);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    return {grads[0].index_select(0, context->get_saved_variables()[0]), Tensor(), Tensor()};
  }
};

struct UnpadFunction : torch::autograd::Function<UnpadFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& padded, const Tensor& places) {
    context->save_for_backward({places});
    context->saved_data["size"] = padded.size(0);
    return padded.index_select(0, places);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const Tensor& grad = grads[0];
    Tensor padded = torch::zeros({context->saved_data["size"].toInt(), grad.size(1)}, grad.options());
    return {padded.index_copy_(0, context->get_saved_variables()[0], grad), Tensor()};
  }
};

}  // namespace

Padding padding_of(const Segments& segments, torch::Device device) {
  const std::int64_t count = segments.count(), longest = segments.longest(), rows = segments.rows();
  TORCH_CHECK(rows > 0, "nothing to pad");
  const Tensor offsets = index_tensor(segments.offsets(), device);
  const Tensor starts = offsets.slice(0, 0, count), ends = offsets.slice(0, 1);
  const auto numbers = [&](std::int64_t end) { return torch::arange(end, offsets.options()); };
  const Tensor row_at = starts.unsqueeze(1) + numbers(longest);
  const Tensor shift = numbers(count) * longest - starts;  // from a row to its place, by segment
  return {count, longest, row_at.clamp_max(rows - 1).flatten(), row_at.ge(ends.unsqueeze(1)),
          numbers(rows) + shift.repeat_interleave(ends - starts, 0, rows)};
}

Tensor pad(const Tensor& rows, const Padding& padding) {
  return PadFunction::apply(rows, padding.rows, padding.places)
      .view({padding.segments, padding.longest, rows.size(1)});
}

Tensor unpad(const Tensor& padded, const Padding& padding) {
  return UnpadFunction::apply(padded.reshape({padding.segments * padding.longest, padded.size(2)}),
                              padding.places);
}

using torch::Tensor;

Tensor glorot_uniform(std::int64_t rows, std::int64_t columns) {
  const double limit = std::sqrt(6.0 / static_cast<double>(rows + columns));
  return torch::empty({rows, columns}).uniform_(-limit, limit);
}

Tensor embedding_uniform(std::int64_t rows, std::int64_t columns) {
  return torch::empty({rows, columns}).uniform_(-0.05, 0.05);
}

WordConvolution::WordConvolution(std::int64_t in, std::int64_t out, Start start)
    : weight_(register_parameter("weight", glorot_uniform(3 * in, out))),
      bias_(register_parameter("bias", torch::zeros({out}))) {
  if (start == Start::glorot) return;
  torch::NoGradGuard no_grad;
  weight_.mul_(around_identity)
      .slice(0, in, 2 * in)
      .add_(torch::nn::init::orthogonal_(torch::empty({in, out})));
}

Tensor WordConvolution::forward(const Tensor& words, const Segments& segments) {
  return affine(word_windows(words, segments), weight_, bias_, segments.row_owners()).relu();
}

SelfAttention::SelfAttention(std::int64_t in, std::int64_t heads, std::int64_t head_size, Start start)
    : heads_(heads),
      weight_(register_parameter(
          "weight", torch::cat({glorot_uniform(in, heads * head_size), glorot_uniform(in, heads * head_size),
                                glorot_uniform(in, heads * head_size)},
                               1))) {
  if (start == Start::glorot) return;
  torch::NoGradGuard no_grad;
  const std::int64_t out = heads * head_size;
  weight_.mul_(around_identity).slice(1, 2 * out).add_(torch::eye(in, out));
}

Tensor SelfAttention::forward(const Tensor& rows, const Segments& segments) {
  return ragged_attention(product(rows, weight_, segments.row_owners()), segments, heads_);
}

AdditivePooling::AdditivePooling(std::int64_t in, std::int64_t hidden)
    : weight_(register_parameter("weight", glorot_uniform(in, hidden))),
      bias_(register_parameter("bias", torch::zeros({hidden}))),
      query_(register_parameter("query", glorot_uniform(hidden, 1).squeeze(1))) {}

Tensor AdditivePooling::forward(const Tensor& rows, const Segments& segments) {
  const Owners& owners = segments.row_owners();
  return ragged_pool(projection(affine(rows, weight_, bias_, owners).tanh(), query_, owners), rows, segments);
}

Dense::Dense(std::int64_t in, std::int64_t out)
    : weight_(register_parameter("weight", glorot_uniform(in, out))),
      bias_(register_parameter("bias", torch::zeros({out}))) {}

Tensor Dense::forward(const Tensor& rows, const Owners& owners) {
  return affine(rows, weight_, bias_, owners);
}

WindowConvolutions::WindowConvolutions(std::int64_t in, std::int64_t out) : in_(in) {
  for (std::int64_t window = 1; window <= 3; ++window) {
    const std::int64_t filters = out / 3 + (window <= out % 3 ? 1 : 0);
    windows_.push_back(
        register_module("window" + std::to_string(window), std::make_shared<Dense>(window * in, filters)));
  }
}

Tensor WindowConvolutions::forward(const Tensor& words, const Segments& segments) {
  const Tensor three = word_windows(words, segments);  // before | the word | after
  return segment_max(
      torch::cat({windows_[0]->forward(words), windows_[1]->forward(three.slice(1, 0, 2 * in_)),
                  windows_[2]->forward(three)},
                 1)
          .relu(),
      segments);
}

Tensor segment_mean(const Tensor& rows, const Segments& segments) {
  return ragged_pool(torch::zeros({rows.size(0)}, rows.options()), rows, segments);
}

Tensor segment_max(const Tensor& rows, const Segments& segments) {
  if (segments.rows() == 0) return torch::zeros({segments.count(), rows.size(1)}, rows.options());
  const Padding padding = padding_of(segments, rows.device());
  const double least = -std::numeric_limits<double>::infinity();
  const Tensor all = pad(rows, padding).masked_fill(padding.blank.unsqueeze(2), least);
  return std::get<0>(all.max(1)).masked_fill(padding.blank.select(1, 0).unsqueeze(1), 0.0);
}

Tensor rows_or_zero(const Tensor& table, std::span<const std::int32_t> rows, const Owners& owners) {
  std::vector<std::int64_t> present, place, present_before = {0};
  for (const std::int32_t row : rows) {
    if (row >= 0) present.push_back(row);
    present_before.push_back(static_cast<std::int64_t>(present.size()));
  }
  const auto zero = static_cast<std::int64_t>(present.size());
  std::int64_t next = 0;
  for (const std::int32_t row : rows) place.push_back(row >= 0 ? next++ : zero);
  const Tensor found = lookup(table, std::move(present), owners_of_parts(owners, present_before));
  return gather_rows(torch::cat({found, torch::zeros({1, table.size(1)}, table.options())}),
                     std::move(place));
}

}  // namespace sotto::model
