#pragma once
// The hash that chains a ledger's records: BLAKE2b, 256 bits, from libsodium. A build without libsodium has
// no ledgers: opening or creating one is an error that says so.

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sotto {

using ChainHash = std::array<unsigned char, 32>;

Result<ChainHash> chain_hash(std::initializer_list<std::string_view> parts);

std::string to_hex(std::span<const unsigned char> bytes);
inline std::string_view as_text(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sotto
