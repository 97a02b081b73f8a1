#pragma once
// Row numbers found on the CPU, where a tensor operation can read them.

#include <cstdint>
#include <span>

#include "model/tensor.h"

namespace sotto {

// A copy of `numbers`, int64. To a card it travels without keeping the CPU waiting for work queued before it.
torch::Tensor index_tensor(std::span<const std::int64_t> numbers, torch::Device device);

}  // namespace sotto
