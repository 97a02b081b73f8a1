#pragma once
// HKDF-SHA256 (RFC 5869) by OpenSSL, and the one way this protocol turns a secret into a key.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/secret_bytes.h"

namespace sotto {

// Fills all of `out`. Fails only when OpenSSL has no HKDF or no memory. Thread-safe.
Status hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::uint8_t> out);

// A 256-bit key for one purpose. `binding` is the hash of everything the key must depend on: round,
// transcript, both clients, both public keys (FieldHash keeps the fields apart).
Result<Key> derive_key(ByteView secret, std::string_view purpose, const Digest& binding);

}  // namespace sotto
