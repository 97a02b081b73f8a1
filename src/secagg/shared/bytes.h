#pragma once
// Plain byte types of the protocol. None of these is secret: secrets are SecretBytes.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

using Digest = std::array<std::uint8_t, 32>;       // SHA-256
using PublicKey = std::array<std::uint8_t, 32>;    // X25519
using IdentityKey = std::array<std::uint8_t, 32>;  // Ed25519, public
using Signature = std::array<std::uint8_t, 64>;    // Ed25519

}  // namespace sotto
