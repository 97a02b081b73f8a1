#include "base/chain_hash.h"

#ifdef SOTTO_HAVE_SODIUM
#include <sodium.h>
#endif

namespace sotto {

Result<ChainHash> chain_hash([[maybe_unused]] std::initializer_list<std::string_view> parts) {
#ifdef SOTTO_HAVE_SODIUM
  static const bool ready = sodium_init() >= 0;
  if (!ready) return failed("libsodium cannot be initialised");
  ChainHash hash;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, hash.size());
  for (const std::string_view part : parts) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  crypto_generichash_final(&state, hash.data(), hash.size());
  return hash;
#else
  return failed("this build has no libsodium, which ledgers need: install it and build again");
#endif
}

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace sotto
