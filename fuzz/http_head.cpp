// Any bytes as a request, in any pieces: refused, or read in one way only.

#include "http_request_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sotto::net::Router router = sotto::fuzzed_routes();
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const sotto::FuzzedRequest whole(router, bytes, bytes.size() + 1);
  const sotto::FuzzedRequest pieces(router, bytes, 1 + data[0]);
  if (!whole.same_as(pieces)) std::abort();
  return 0;
}
