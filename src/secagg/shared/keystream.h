#pragma once
// The stream ciphers that expand a 256-bit key into a mask, by OpenSSL. All clients of a round use the same
// one: it is part of the round's description.

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "secagg/shared/secret_bytes.h"

namespace sotto {

// Values are part of the wire format. AES has 256-bit keys, not 128: a round has thousands of keys and all
// streams start at the same counter, so an attack on many keys at once would gain on short ones.
enum class MaskCipher : std::uint8_t { aes256_ctr = 1, chacha20 = 2 };

// AES where the processor has instructions for it: in software it is slow, and its tables leak through the
// cache.
MaskCipher fastest_mask_cipher();
const char* name_of(MaskCipher cipher);

// One key stream at a time. OpenSSL's context, with the key schedule in it, is wiped on destruction and
// replaced by start(). Not thread-safe: one per thread.
class Keystream {
 public:
  // Positions must be multiples of this many bytes: a block of both ciphers.
  static constexpr std::size_t kAlignment = 64;

  static Result<Keystream> create(MaskCipher cipher);
  // Sets the key and the position, in bytes from the start of that key's stream.
  Status start(const Key& key, std::uint64_t position);
  // The next out.size() bytes of the stream, at most kLargestRead.
  static constexpr std::size_t kLargestRead = 8192;
  Status read(std::span<std::uint8_t> out);

 private:
  struct ContextDeleter {
    void operator()(EVP_CIPHER_CTX* context) const;
  };
  explicit Keystream(MaskCipher cipher) : cipher_(cipher) {}

  MaskCipher cipher_;
  std::unique_ptr<EVP_CIPHER_CTX, ContextDeleter> context_;
};

}  // namespace sotto
