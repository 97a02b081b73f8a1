// Any bytes as the body of a recommendation request or answer, or as a stored answer: refused, or taken for
// what they are, but no crash.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "device/wire/query_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = device::decode_recommend_request(bytes)) {
    if (!device::check(*request) || *device::decode_recommend_request(encode(*request)) != *request)
      std::abort();
  }
  if (const auto answer = device::decode_recommend_answer(bytes)) {
    if (*device::decode_recommend_answer(encode(*answer)) != *answer) std::abort();
  }
  if (const auto query = device::decode_drawn_query(bytes)) {
    if (encode(*query) != bytes) std::abort();
  }
  return 0;
}
