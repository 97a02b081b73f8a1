#pragma once
// Memory for time: a part of a model whose inner results are not kept for the backward pass, but computed
// once more when its gradient is asked for.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tensor.h"

namespace sotto::model {

// part(input), with gradients of `input` and of `parameters`, the leaves that `part` reads. `part` must give
// the same result each time (no dropout with a generator of its own) and lives until the graph is freed; what
// it refers to must outlive the backward pass. Runs again under the precision of the forward pass.
torch::Tensor recomputed(std::function<torch::Tensor(const torch::Tensor&)> part, const torch::Tensor& input,
                         std::vector<torch::Tensor> parameters);

// The precision that matrix products are computed in. bf16: PyTorch's autocast on CUDA; weights, gradients
// and sums that need it stay in 32 bits. Hides that libtorch's interface for it has changed.
enum class Precision : std::uint8_t { fp32, bf16 };

// "fp32" or "bf16"; bf16 is refused on the CPU, whose kernels have no such path.
Result<Precision> precision_on(std::string_view name, std::string_view device);

// Everything computed on CUDA by this thread during the life of the object uses the precision. Regions nest.
class PrecisionRegion {
 public:
  explicit PrecisionRegion(Precision precision);
  ~PrecisionRegion();
  PrecisionRegion(const PrecisionRegion&) = delete;
  PrecisionRegion& operator=(const PrecisionRegion&) = delete;

  static Precision current();

 private:
  Precision before_;
  bool remembered_;
};

}  // namespace sotto::model
