#pragma once
// SHA-256 over a list of fields. Each field goes in with its length, after a label that names the purpose: no
// two different lists, and no two purposes, feed the same bytes to the hash.

#include <sodium.h>

#include <cstdint>
#include <string_view>

#include "secagg/shared/bytes.h"

namespace sotto::secagg {

// One use: append fields, then finish(). Not for secrets: its state is not wiped.
class FieldHash {
 public:
  explicit FieldHash(std::string_view label);
  FieldHash& bytes(ByteView field);
  FieldHash& number(std::uint64_t field);
  Digest finish();

 private:
  crypto_hash_sha256_state state_;
};

// The commitment to a secret of at least 248 random bits, which cannot be guessed from it. `binding` is the
// hash of what the secret is and whose.
Digest commitment_to(ByteView secret, const Digest& binding);

}  // namespace sotto::secagg
