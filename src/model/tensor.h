#pragma once
// The part of torch that Sotto uses: tensors, autograd functions, modules. The whole of <torch/torch.h> takes
// twice as long to compile, in every file anew even when it is precompiled.

#include <torch/csrc/autograd/custom_function.h>
#include <torch/cuda.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cstdint>
#include <span>

namespace sotto::model {

// Row numbers found on the CPU, where a tensor operation can read them: a copy of `numbers`, int64. To a card
// it travels without keeping the CPU waiting for work queued before it.
torch::Tensor index_tensor(std::span<const std::int64_t> numbers, torch::Device device);

// Torch starts with one thread: use the pool's number. Warns when matrix products run at the speed of the
// reference BLAS (about 20 times too slow), which happens when no optimised BLAS package is installed.
void prepare_torch();

}  // namespace sotto::model
