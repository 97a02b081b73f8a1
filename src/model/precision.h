#pragma once
// The precision that matrix products are computed in. bf16: PyTorch's autocast on CUDA; weights, gradients
// and sums that need it stay in 32 bits. Hides that libtorch's interface for it has changed.

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace sotto {

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

}  // namespace sotto
