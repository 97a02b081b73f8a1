#include "secagg/shared/key_derivation.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

namespace sotto {

namespace {

// Looked up once: the search through OpenSSL's providers costs more than the derivation. Never freed.
EVP_KDF* hkdf_algorithm() {
  static EVP_KDF* const algorithm = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  return algorithm;
}

struct ContextDeleter {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }  // wipes its copy of the secret
};

// OpenSSL's parameter lists take pointers to what they only read.
OSSL_PARAM octets(const char* name, ByteView bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

Status hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::uint8_t> out) {
  if (hkdf_algorithm() == nullptr) {
    return failed("OpenSSL offers no HKDF: load its default provider (see openssl.cnf)");
  }
  const std::unique_ptr<EVP_KDF_CTX, ContextDeleter> context(EVP_KDF_CTX_new(hkdf_algorithm()));
  if (!context) return failed("OpenSSL is out of memory");
  char hash[] = "SHA256";
  // Absent and empty salt are the same thing in RFC 5869; OpenSSL takes no null pointer.
  OSSL_PARAM parameters[5];
  std::size_t count = 0;
  parameters[count++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash, 0);
  parameters[count++] = octets(OSSL_KDF_PARAM_KEY, secret);
  if (!salt.empty()) parameters[count++] = octets(OSSL_KDF_PARAM_SALT, salt);
  if (!info.empty()) parameters[count++] = octets(OSSL_KDF_PARAM_INFO, info);
  parameters[count] = OSSL_PARAM_construct_end();
  if (EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) != 1) {
    return failed("OpenSSL could not derive a key of {} bytes", out.size());
  }
  return {};
}

Result<Key> derive_key(ByteView secret, std::string_view purpose, const Digest& binding) {
  Key key;
  // The digest has a fixed length and comes last, so purpose and binding cannot run into each other.
  Bytes info(purpose.begin(), purpose.end());
  info.insert(info.end(), binding.begin(), binding.end());
  SOTTO_CHECK(hkdf_sha256(secret, {}, info, key.span()));
  return key;
}

}  // namespace sotto
