#include "secagg/shared/field_hash.h"

#include <array>

namespace sotto::secagg {

namespace {

std::array<std::uint8_t, 8> little_endian(std::uint64_t number) {
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return bytes;
}

}  // namespace

FieldHash::FieldHash(std::string_view label) {
  crypto_hash_sha256_init(&state_);
  bytes({reinterpret_cast<const std::uint8_t*>(label.data()), label.size()});
}

FieldHash& FieldHash::bytes(ByteView field) {
  const auto length = little_endian(field.size());
  crypto_hash_sha256_update(&state_, length.data(), length.size());
  crypto_hash_sha256_update(&state_, field.data(), field.size());
  return *this;
}

FieldHash& FieldHash::number(std::uint64_t field) { return bytes(little_endian(field)); }

Digest FieldHash::finish() {
  Digest digest;
  crypto_hash_sha256_final(&state_, digest.data());
  return digest;
}

Digest commitment_to(ByteView secret, const Digest& binding) {
  // Not by FieldHash: the state is wiped here.
  crypto_hash_sha256_state state;
  constexpr std::string_view label = "sotto secagg commitment 2";
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(label.data()), label.size());
  crypto_hash_sha256_update(&state, binding.data(), binding.size());
  crypto_hash_sha256_update(&state, secret.data(), secret.size());
  Digest digest;
  crypto_hash_sha256_final(&state, digest.data());
  sodium_memzero(&state, sizeof state);
  return digest;
}

}  // namespace sotto::secagg
