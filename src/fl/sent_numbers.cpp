#include "fl/sent_numbers.h"

namespace sotto::fl {

using torch::Tensor;

Received sent_as_floats(const Tensor& values) {
  return {values.detach().clone(), static_cast<std::uint64_t>(values.numel()) * sizeof(float)};
}

Received sent_as_bytes(const Tensor& rows) {
  const torch::NoGradGuard no_grad;
  // Rounded up to 16 bits, so that the largest number of a row still fits.
  const Tensor largest = rows.abs().amax(1, true) / 127;
  Tensor scale = largest.to(torch::kFloat16).to(rows.scalar_type());
  scale = torch::where(scale.lt(largest), scale * (1 + 0x1p-10) + 0x1p-24, scale)
              .to(torch::kFloat16)
              .to(rows.scalar_type());
  const Tensor steps =
      torch::where(scale.gt(0), rows / scale, torch::zeros_like(rows)).round().clamp(-127, 127);
  return {steps * scale, static_cast<std::uint64_t>(rows.numel() + 2 * rows.size(0)), steps.to(torch::kInt8),
          scale.to(torch::kFloat16).flatten()};
}

Received vector_sent_as_bytes(const Tensor& vector) {
  constexpr std::int64_t columns = 1024;
  const std::int64_t size = vector.numel(), rows = (size + columns - 1) / columns;
  Tensor padded = torch::zeros({rows * columns}, vector.options().requires_grad(false));
  padded.slice(0, 0, size).copy_(vector.detach());
  Received received = sent_as_bytes(padded.view({rows, columns}));
  received.values = received.values.flatten().slice(0, 0, size).clone();
  received.bytes = static_cast<std::uint64_t>(size + 2 * rows);
  return received;
}

}  // namespace sotto::fl
