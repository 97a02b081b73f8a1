// Any bytes as a JSON body of the server: an error, or something that keeps every promise.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serving/http/bodies_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = sotto::serving::decode_recommend_json(bytes)) {
    if (!sotto::device::check(*request)) std::abort();
    // What was understood means the same as a device's bytes.
    if (sotto::device::decode_recommend_request(sotto::device::encode(*request)) != *request) std::abort();
  }
  if (const auto items = sotto::serving::decode_items_json(bytes)) {
    for (const auto& item : *items) {
      if (!sotto::serving::check_item(item)) std::abort();
      if (sotto::serving::decode_record(sotto::serving::encode_put(item))->item != item) std::abort();
    }
  }
  return 0;
}
