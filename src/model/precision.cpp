#include "model/precision.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace sotto {
namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool autocast_is_on() { return at::autocast::is_autocast_enabled(at::kCUDA); }
void set_autocast(bool on) {
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, on);
}
#else
bool autocast_is_on() { return at::autocast::is_enabled(); }
void set_autocast(bool on) {
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(on);
}
#endif

}  // namespace

Result<Precision> precision_on(std::string_view name, std::string_view device) {
  if (name == "fp32") return Precision::fp32;
  if (name != "bf16") return bad_input("unknown precision '{}': fp32 or bf16", name);
  if (device != "cuda")
    return bad_input("precision=bf16 needs a GPU (--device cuda): on the CPU train with precision=fp32");
  return Precision::bf16;
}

PrecisionRegion::PrecisionRegion(Precision precision)
    : before_(current()), remembered_(at::autocast::is_autocast_cache_enabled()) {
  // A cast that was made without its graph (recompute.h) must not be found again by a pass that needs it.
  at::autocast::set_autocast_cache_enabled(false);
  set_autocast(precision == Precision::bf16);
}

PrecisionRegion::~PrecisionRegion() {
  set_autocast(before_ == Precision::bf16);
  at::autocast::set_autocast_cache_enabled(remembered_);
}

Precision PrecisionRegion::current() { return autocast_is_on() ? Precision::bf16 : Precision::fp32; }

}  // namespace sotto
