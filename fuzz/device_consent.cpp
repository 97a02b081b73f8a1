// Any bytes as what a person agreed to: refused, or terms that hold and have one encoding.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "device/sdk/consent.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto::device;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto consent = decode_consent(bytes);
  if (!consent) return 0;
  if (!validate(consent->terms) || encode(*consent) != bytes) std::abort();
  const DeviceSettings settings;
  static_cast<void>(check_training(*consent, settings));
  static_cast<void>(check_asking(*consent, settings));
  return 0;
}
