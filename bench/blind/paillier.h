#pragma once
// Paillier's cryptosystem (1999) as one writes it first, to compare with: a score is a product of encrypted
// user entries, each raised to the item's entry, modulo n². 3,072 bits are the strength of 128.

#include <openssl/bn.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace sotto::bench {

class Paillier {
 public:
  using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

  static Result<Paillier> create(int bits);

  // A user vector, entry by entry, and the inverses of the ciphertexts for negative weights; in Montgomery's
  // form, as the server's products want them.
  struct Question {
    std::vector<Number> entries, inverses;
  };
  Result<Question> ask(std::span<const std::int32_t> user) const;
  // An encryption of Σ user[i]·item[i]; item: entries of three bits and a sign.
  Result<Number> score(const Question& question, std::span<const std::int8_t> item) const;
  Result<std::int64_t> decrypt(const BIGNUM& ciphertext) const;

 private:
  using Context = std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)>;
  using Montgomery = std::unique_ptr<BN_MONT_CTX, decltype(&BN_MONT_CTX_free)>;
  Paillier();
  Result<Number> encrypt(std::int64_t value) const;
  Number n_, square_, lambda_, mu_;
  Context context_;
  Montgomery by_square_;
};

}  // namespace sotto::bench
