#pragma once
// Memory for time: a part of a model whose inner results are not kept for the backward pass, but computed
// once more when its gradient is asked for.

#include <functional>
#include <vector>

#include "model/tensor.h"

namespace sotto {

// part(input), with gradients of `input` and of `parameters`, the leaves that `part` reads. `part` must give
// the same result each time (no dropout with a generator of its own) and lives until the graph is freed; what
// it refers to must outlive the backward pass. Runs again under the precision of the forward pass.
torch::Tensor recomputed(std::function<torch::Tensor(const torch::Tensor&)> part, const torch::Tensor& input,
                         std::vector<torch::Tensor> parameters);

}  // namespace sotto
