#include "model/tensor.h"

#include <algorithm>

namespace sotto {

torch::Tensor index_tensor(std::span<const std::int64_t> numbers, torch::Device device) {
  // Only from pinned memory does a copy to a card wait in the card's queue instead of the CPU's.
  const auto options = torch::TensorOptions(torch::kInt64).pinned_memory(device.is_cuda());
  const torch::Tensor copy = torch::empty({static_cast<std::int64_t>(numbers.size())}, options);
  std::copy(numbers.begin(), numbers.end(), copy.data_ptr<std::int64_t>());
  return copy.to(device, /*non_blocking=*/true);
}

}  // namespace sotto
