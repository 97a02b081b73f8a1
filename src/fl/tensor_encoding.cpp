#include "fl/tensor_encoding.h"

#include <algorithm>
#include <cmath>

#include "privacy/mechanisms/clipping.h"

namespace sotto::fl {

using torch::Tensor;

namespace {

// What is alive at most for one entry: update, value, draw, moved value, whole number and its square.
constexpr std::size_t bytes_per_entry = 4 + 8 + 4 + 8 + 8 + 8;

Tensor hadamard_matrix(std::int64_t size, const torch::TensorOptions& options) {
  Tensor matrix = torch::ones({1, 1}, options);
  for (std::int64_t have = 1; have < size; have *= 2)
    matrix = torch::cat({torch::cat({matrix, matrix}, 1), torch::cat({matrix, -matrix}, 1)}, 0);
  return matrix;
}

// The Walsh–Hadamard transform of every row [R, n], n a power of two: a product for every few bits of the
// column number, lowest first. Each moves its bits to the top, so that all are back in their places at the
// end.
Tensor hadamard_rows(const Tensor& rows) {
  constexpr std::int64_t widest = 256;
  const std::int64_t count = rows.size(0), columns = rows.size(1);
  Tensor values = rows;
  for (std::int64_t left = columns; left > 1;) {
    const std::int64_t width = std::min(left, widest);
    left /= width;
    values =
        torch::matmul(values.reshape({count, columns / width, width}), hadamard_matrix(width, rows.options()))
            .transpose(1, 2)
            .reshape({count, columns});
  }
  return values;
}

Tensor scaled_signs(const secagg::RandomRotation& rotation, std::uint32_t step, torch::Device device) {
  return torch::tensor(rotation.signs(step), torch::kFloat64)
      .div_(std::sqrt(static_cast<double>(rotation.block())))
      .to(device);
}

}  // namespace

TensorEncoder::TensorEncoder(secagg::EncodingPlan plan, torch::Device device)
    : plan_(std::move(plan)), device_(device) {
  if (!plan_.rotation()) return;
  first_signs_ = scaled_signs(*plan_.rotation(), 0, device_);
  if (plan_.rotation()->block() != plan_.entries()) last_signs_ = scaled_signs(*plan_.rotation(), 1, device_);
}

std::int64_t TensorEncoder::rows_within(std::size_t bytes) const {
  return static_cast<std::int64_t>(std::max<std::size_t>(1, bytes / (bytes_per_entry * plan_.entries())));
}

void TensorEncoder::rotate(Tensor& values) const {
  const auto block = static_cast<std::int64_t>(plan_.rotation()->block());
  Tensor first = values.narrow(1, 0, block);
  first.copy_(hadamard_rows(first * first_signs_));
  if (!last_signs_.defined()) return;
  Tensor last = values.narrow(1, values.size(1) - block, block);
  last.copy_(hadamard_rows(last * last_signs_));
}

Result<Tensor> TensorEncoder::on_the_grid(const Tensor& updates) const {
  const secagg::EncodingPlan::Settings& settings = plan_.settings();
  const std::int64_t dimension = updates.size(1);
  // Squares of floats neither overflow nor vanish in double.
  const Tensor norms = at::linalg_vector_norm(updates, 2, at::IntArrayRef{1}, true, torch::kFloat64);
  if (!norms.isfinite().all().item<bool>())
    return bad_input("cannot clip a vector with NaN or infinite entries: drop this contribution");
  const double safe = privacy::safe_norm(settings.clip, settings.dimension);
  const Tensor factors =
      torch::where(norms.le(safe), torch::ones_like(norms), torch::full_like(norms, safe) / norms);
  Tensor values = torch::empty({updates.size(0), static_cast<std::int64_t>(plan_.entries())},
                               updates.options().dtype(torch::kFloat64));
  Tensor own = values.narrow(1, 0, dimension);
  at::mul_out(own, updates, factors);
  if (plan_.clip_bit()) {
    const double within = plan_.clip_bit()->coordinate(0), beyond = plan_.clip_bit()->coordinate(HUGE_VAL);
    values.select(1, dimension)
        .copy_(norms.le(settings.clip).squeeze(1).to(torch::kFloat64) * (within - beyond) + beyond);
  }
  if (plan_.rotation()) rotate(values);
  const auto limit = static_cast<double>(plan_.rounding().entry_bound());
  return values.mul_(1 / settings.step).clamp_(settings.nonnegative ? 0 : -limit, limit);
}

Tensor TensorEncoder::limited(const Tensor& values) const {
  const auto limit = static_cast<double>(plan_.rounding().entry_bound());
  return values.clamp(-limit, limit).to(torch::kInt64);
}

Tensor TensorEncoder::drawn(const Tensor& values, at::Generator draws) const {
  constexpr std::int64_t parts = std::int64_t{1} << 31;
  const Tensor uniform =
      torch::empty(values.sizes(), values.options().dtype(torch::kInt32)).random_(0, parts, std::move(draws));
  return limited(values.add(uniform, 1 / static_cast<double>(parts)).floor_());
}

Tensor TensorEncoder::too_long(const Tensor& whole) const {
  return whole.square().sum(1).gt(static_cast<std::int64_t>(plan_.rounding().squared_bound()));
}

Tensor TensorEncoder::rounded(const Tensor& values, const at::Generator& draws) const {
  Tensor whole = drawn(values, draws);
  Tensor wrong = too_long(whole).nonzero().squeeze(1);
  for (int tries = 1; tries < secagg::StochasticRounding::most_tries && wrong.numel() > 0; ++tries) {
    const Tensor again = drawn(values.index_select(0, wrong), draws);
    whole.index_copy_(0, wrong, again);
    wrong = wrong.index_select(0, too_long(again).nonzero().squeeze(1));
  }
  if (wrong.numel() == 0) return whole;
  const Tensor shorter = limited(values.index_select(0, wrong).trunc_());
  whole.index_copy_(0, wrong, shorter * too_long(shorter).logical_not().unsqueeze(1));
  return whole;
}

Status TensorEncoder::add(const Tensor& updates, double bound, std::uint64_t key, Tensor& sum) const {
  const torch::NoGradGuard no_grad;
  SOTTO_TRY(const Tensor values, on_the_grid(bound == 1 ? updates : updates / bound));
  // A generator of its own: what else is drawn on the device is not touched.
  at::Generator draws = at::globalContext().defaultGenerator(device_).clone();
  draws.set_current_seed(key);
  sum.add_(rounded(values, draws).sum(0));
  return {};
}

}  // namespace sotto::fl
