// Any bytes as a server's refusal of a device: a few printable words, and calls that stay one line whatever
// the version is called.

#include "device/wire/server_calls.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto::device;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string words = error_text({400, bytes});
  const auto is_control = [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
  };
  if (words.empty() || words.size() > 300 || std::any_of(words.begin(), words.end(), is_control))
    std::abort();
  static_cast<void>(refused("server", {500, bytes}));
  for (const ServerCall& call : {pack_call(bytes), guide_call(bytes)})
    if (std::any_of(call.path.begin(), call.path.end(), [](char c) { return c <= ' ' || c >= 0x7f; }))
      std::abort();
  return 0;
}
