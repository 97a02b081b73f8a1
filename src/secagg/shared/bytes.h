#pragma once
// Plain byte types of the protocol. None of these is secret: secrets are SecretBytes.

#include <sodium.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "privacy/noise/device_random.h"

namespace sotto::secagg {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

using Digest = std::array<std::uint8_t, 32>;       // SHA-256
using PublicKey = std::array<std::uint8_t, 32>;    // X25519
using IdentityKey = std::array<std::uint8_t, 32>;  // Ed25519, public
using Signature = std::array<std::uint8_t, 64>;    // Ed25519

// Memory that must not outlive its use.

// N secret bytes. Wiped on destruction, on assignment and in the source of a move, in a way the compiler may
// not remove. Moves but never copies: copy() is the only way to a second one, and can be searched for. Not
// thread-safe, like any value.
template <std::size_t N>
class SecretBytes {
 public:
  SecretBytes() = default;  // all zero
  explicit SecretBytes(std::span<const std::uint8_t, N> bytes) {
    for (std::size_t i = 0; i < N; ++i) bytes_[i] = bytes[i];
  }
  static SecretBytes random(privacy::DeviceRandom random) {
    std::array<std::uint64_t, (N + 7) / 8> words{};
    random.source().fill(words);
    SecretBytes secret(
        std::span<const std::uint8_t, N>(reinterpret_cast<const std::uint8_t*>(words.data()), N));
    sodium_memzero(words.data(), sizeof words);
    return secret;
  }

  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  SecretBytes(SecretBytes&& other) noexcept : bytes_(other.bytes_) { other.wipe(); }
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    if (this != &other) {
      bytes_ = other.bytes_;
      other.wipe();
    }
    return *this;
  }
  ~SecretBytes() { wipe(); }

  SecretBytes copy() const { return SecretBytes(view()); }
  void wipe() { sodium_memzero(bytes_.data(), N); }

  std::span<const std::uint8_t, N> view() const { return bytes_; }
  std::span<std::uint8_t, N> span() { return bytes_; }
  const std::uint8_t* data() const { return bytes_.data(); }
  std::uint8_t* data() { return bytes_.data(); }

  // In time that does not depend on the content.
  bool equals(const SecretBytes& other) const {
    return sodium_memcmp(bytes_.data(), other.bytes_.data(), N) == 0;
  }

 private:
  std::array<std::uint8_t, N> bytes_{};
};

// 248 bits: the longest whole-byte secret below the order of the field it is shared over.
using Seed = SecretBytes<31>;
using Key = SecretBytes<32>;

}  // namespace sotto::secagg
