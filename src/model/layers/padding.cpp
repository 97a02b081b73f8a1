#include "model/layers/padding.h"

#include "model/tensor.h"

namespace sotto {

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

}  // namespace sotto
