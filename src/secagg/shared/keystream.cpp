#include "secagg/shared/keystream.h"

#include <openssl/evp.h>

#include <array>

namespace sotto {

namespace {

// Fetched once, never freed: see hkdf_algorithm().
const EVP_CIPHER* algorithm_of(MaskCipher cipher) {
  static EVP_CIPHER* const aes = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  static EVP_CIPHER* const chacha = EVP_CIPHER_fetch(nullptr, "ChaCha20", nullptr);
  return cipher == MaskCipher::aes256_ctr ? aes : chacha;
}

// Where in the stream a cipher starts, in its initialisation vector: AES-CTR counts 16-byte blocks in 128
// bits, highest byte first; OpenSSL's ChaCha20 counts 64-byte blocks in the first 32 bits, lowest byte first.
std::array<std::uint8_t, 16> vector_at(MaskCipher cipher, std::uint64_t position) {
  std::array<std::uint8_t, 16> vector{};
  if (cipher == MaskCipher::aes256_ctr) {
    const std::uint64_t block = position / 16;
    for (std::size_t i = 0; i < 8; ++i) vector[15 - i] = static_cast<std::uint8_t>(block >> (8 * i));
  } else {
    const std::uint64_t block = position / 64;
    for (std::size_t i = 0; i < 4; ++i) vector[i] = static_cast<std::uint8_t>(block >> (8 * i));
  }
  return vector;
}

// Encrypting zeros gives the bare stream.
constexpr std::array<std::uint8_t, Keystream::kLargestRead> kZeros{};

}  // namespace

MaskCipher fastest_mask_cipher() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("aes") != 0 ? MaskCipher::aes256_ctr : MaskCipher::chacha20;
#else
  return MaskCipher::chacha20;
#endif
}

const char* name_of(MaskCipher cipher) {
  return cipher == MaskCipher::aes256_ctr ? "AES-256-CTR" : "ChaCha20";
}

void Keystream::ContextDeleter::operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }

Result<Keystream> Keystream::create(MaskCipher cipher) {
  Keystream stream(cipher);
  stream.context_.reset(EVP_CIPHER_CTX_new());
  if (!stream.context_) return failed("OpenSSL is out of memory");
  const EVP_CIPHER* algorithm = algorithm_of(cipher);
  if (algorithm == nullptr ||
      EVP_EncryptInit_ex2(stream.context_.get(), algorithm, nullptr, nullptr, nullptr) != 1) {
    return failed("OpenSSL offers no {}: load its default provider (see openssl.cnf)", name_of(cipher));
  }
  return stream;
}

Status Keystream::start(const Key& key, std::uint64_t position) {
  if (position % kAlignment != 0) {
    return bad_input("a key stream starts at a multiple of {}, not at {}", kAlignment, position);
  }
  // ChaCha20's counter has 32 bits; beyond them OpenSSL would count on into the nonce.
  if (position / 64 >= std::uint64_t{1} << 32) return bad_input("a mask is at most 256 GiB long");
  const auto vector = vector_at(cipher_, position);
  if (EVP_EncryptInit_ex2(context_.get(), nullptr, key.data(), vector.data(), nullptr) != 1) {
    return failed("OpenSSL refused the mask key");
  }
  return {};
}

Status Keystream::read(std::span<std::uint8_t> out) {
  if (out.size() > kZeros.size()) return bad_input("at most {} bytes at a time", kZeros.size());
  int written = 0;
  if (EVP_EncryptUpdate(context_.get(), out.data(), &written, kZeros.data(), static_cast<int>(out.size())) !=
          1 ||
      static_cast<std::size_t>(written) != out.size()) {
    return failed("OpenSSL stopped in the middle of a mask");
  }
  return {};
}

}  // namespace sotto
