// Any bytes as a safetensors container: an error, or views that lie inside the input and fit their shapes.

#include "text/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto views = sotto::text::parse_safetensors(bytes);
  if (!views) return 0;
  for (const auto& [name, view] : *views) {
    if (view.bytes.data() < bytes.data() ||
        view.bytes.data() + view.bytes.size() > bytes.data() + bytes.size())
      std::abort();
    std::uint64_t needed = sotto::text::bytes_of(view.type);
    for (const std::uint64_t extent : view.shape) needed *= extent;
    if (needed != view.bytes.size()) std::abort();
  }
  return 0;
}
