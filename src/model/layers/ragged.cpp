#include "model/layers/ragged.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "model/layers/layers.h"
#include "model/layers/ragged_kernels.h"

namespace sotto::model {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Segments::Segments(std::vector<std::int64_t> offsets, const Owners& owners)
    : offsets_(std::move(offsets)), owners_(owners), row_owners_(owners_of_parts(owners, offsets_)) {
  TORCH_CHECK(!offsets_.empty() && offsets_.front() == 0, "segments start at row 0");
  for (std::size_t n = 1; n < offsets_.size(); ++n) {
    TORCH_CHECK(offsets_[n] >= offsets_[n - 1], "segment boundaries must not decrease");
    longest_ = std::max(longest_, offsets_[n] - offsets_[n - 1]);
  }
}

namespace {

// Where each segment's attention weights start: sum over earlier segments of H * L * L.
std::vector<std::int64_t> weight_offsets(const std::vector<std::int64_t>& offsets, std::int64_t heads) {
  std::vector<std::int64_t> starts(offsets.size(), 0);
  for (std::size_t n = 1; n < offsets.size(); ++n) {
    const std::int64_t length = offsets[n] - offsets[n - 1];
    starts[n] = starts[n - 1] + heads * length * length;
  }
  return starts;
}

// Chunks of about equal work although segments differ in length.
void for_segments(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
  at::parallel_for(0, count, 4, body);
}

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& qkv_in,
                        const std::vector<std::int64_t>& offsets, std::int64_t heads) {
    const Tensor qkv = qkv_in.contiguous();
    const std::int64_t columns = qkv.size(1) / 3;
    const auto starts = weight_offsets(offsets, heads);
    Tensor out = torch::empty({qkv.size(0), columns}, qkv.options());
    Tensor weights = torch::empty({starts.back()}, qkv.options());
    AT_DISPATCH_FLOATING_TYPES(qkv.scalar_type(), "ragged_attention", [&] {
      const ragged::AttentionForward<scalar_t> job{
          qkv.data_ptr<scalar_t>(),     offsets.data(),          starts.data(), heads, columns / heads,
          weights.data_ptr<scalar_t>(), out.data_ptr<scalar_t>()};
      for_segments(static_cast<std::int64_t>(offsets.size()) - 1, job);
    });
    context->save_for_backward({qkv, weights});
    context->saved_data["offsets"] = offsets;
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &qkv = saved[0], &weights = saved[1];
    const auto offsets = context->saved_data["offsets"].toIntVector();
    const std::int64_t heads = context->saved_data["heads"].toInt(), columns = qkv.size(1) / 3;
    const auto starts = weight_offsets(offsets, heads);
    const Tensor grad_out = grads[0].contiguous();
    Tensor grad_qkv = torch::empty_like(qkv);
    AT_DISPATCH_FLOATING_TYPES(qkv.scalar_type(), "ragged_attention_backward", [&] {
      const ragged::AttentionBackward<scalar_t> job{qkv.data_ptr<scalar_t>(),
                                                    weights.data_ptr<scalar_t>(),
                                                    grad_out.data_ptr<scalar_t>(),
                                                    offsets.data(),
                                                    starts.data(),
                                                    heads,
                                                    columns / heads,
                                                    grad_qkv.data_ptr<scalar_t>()};
      for_segments(static_cast<std::int64_t>(offsets.size()) - 1, job);
    });
    return {grad_qkv, Tensor(), Tensor()};
  }
};

struct PoolFunction : torch::autograd::Function<PoolFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& scores_in, const Tensor& values_in,
                        const std::vector<std::int64_t>& offsets) {
    const Tensor scores = scores_in.contiguous(), values = values_in.contiguous();
    const std::int64_t segments = static_cast<std::int64_t>(offsets.size()) - 1;
    Tensor weights = torch::empty_like(scores),
           out = torch::empty({segments, values.size(1)}, values.options());
    AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "ragged_pool", [&] {
      const ragged::PoolForward<scalar_t> job{
          scores.data_ptr<scalar_t>(),  values.data_ptr<scalar_t>(), offsets.data(), values.size(1),
          weights.data_ptr<scalar_t>(), out.data_ptr<scalar_t>()};
      for_segments(segments, job);
    });
    context->save_for_backward({values, weights});
    context->saved_data["offsets"] = offsets;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &values = saved[0], &weights = saved[1];
    const auto offsets = context->saved_data["offsets"].toIntVector();
    const Tensor grad_out = grads[0].contiguous();
    Tensor grad_scores = torch::empty_like(weights), grad_values = torch::empty_like(values);
    AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "ragged_pool_backward", [&] {
      const ragged::PoolBackward<scalar_t> job{values.data_ptr<scalar_t>(),
                                               weights.data_ptr<scalar_t>(),
                                               grad_out.data_ptr<scalar_t>(),
                                               offsets.data(),
                                               values.size(1),
                                               grad_scores.data_ptr<scalar_t>(),
                                               grad_values.data_ptr<scalar_t>()};
      for_segments(static_cast<std::int64_t>(offsets.size()) - 1, job);
    });
    return {grad_scores, grad_values, Tensor()};
  }
};

}  // namespace

Tensor ragged_attention(const Tensor& qkv, const Segments& segments, std::int64_t heads) {
  TORCH_CHECK(qkv.dim() == 2 && qkv.size(0) == segments.rows() && qkv.size(1) % (3 * heads) == 0,
              "qkv must be [rows, 3 * heads * size]");
  if (qkv.is_cuda()) return padded_attention(qkv, segments, heads);
  return AttentionFunction::apply(qkv, segments.offsets(), heads);
}

Tensor ragged_pool(const Tensor& scores, const Tensor& values, const Segments& segments) {
  TORCH_CHECK(scores.dim() == 1 && values.dim() == 2 && scores.size(0) == segments.rows() &&
                  values.size(0) == segments.rows(),
              "scores must be [rows], values [rows, columns]");
  if (values.is_cuda()) return padded_pool(scores, values, segments);
  return PoolFunction::apply(scores, values, segments.offsets());
}

Tensor padded_attention(const Tensor& qkv, const Segments& segments, std::int64_t heads) {
  const std::int64_t columns = qkv.size(1) / 3, size = columns / heads, n = segments.count(),
                     length = segments.longest();
  if (segments.rows() == 0) return qkv.slice(1, 0, columns);
  const Padding padding = padding_of(segments, qkv.device());
  // [N, L, 3, H, size] -> three of [N, H, L, size]
  const Tensor split = pad(qkv, padding).view({n, length, 3, heads, size}).permute({2, 0, 3, 1, 4});
  Tensor scores = split[0].matmul(split[1].transpose(-1, -2)) / std::sqrt(static_cast<double>(size));
  scores = scores.masked_fill(padding.blank.view({n, 1, 1, length}), -1e30);
  // The mask is finite: a segment of blanks keeps a defined softmax, which no row of the result reads.
  const Tensor mixed = scores.softmax(-1).matmul(split[2]);
  return unpad(mixed.permute({0, 2, 1, 3}).reshape({n, length, columns}), padding);
}

Tensor padded_pool(const Tensor& scores, const Tensor& values, const Segments& segments) {
  if (segments.rows() == 0) return torch::zeros({segments.count(), values.size(1)}, values.options());
  const Padding padding = padding_of(segments, values.device());
  // A finite mask keeps the softmax of an empty segment defined; its weights are then zeroed.
  const Tensor masked = pad(scores.unsqueeze(1), padding).squeeze(2).masked_fill(padding.blank, -1e30);
  const Tensor weights = masked.softmax(-1).masked_fill(padding.blank, 0.0);
  return weights.unsqueeze(1).matmul(pad(values, padding)).squeeze(1);
}

}  // namespace sotto::model
