#include "bench/blind/paillier.h"

namespace sotto::bench {

namespace {

Paillier::Number number() { return {BN_new(), &BN_free}; }

Status good(bool worked) {
  if (worked) return {};
  return failed("OpenSSL's arithmetic failed: out of memory");
}

}  // namespace

Paillier::Paillier()
    : n_(number()),
      square_(number()),
      lambda_(number()),
      mu_(number()),
      context_(BN_CTX_new(), &BN_CTX_free),
      by_square_(BN_MONT_CTX_new(), &BN_MONT_CTX_free) {}

Result<Paillier> Paillier::create(int bits) {
  Paillier made;
  const Number p = number(), q = number();
  BN_CTX* context = made.context_.get();
  SOTTO_CHECK(good(BN_generate_prime_ex(p.get(), bits / 2, 0, nullptr, nullptr, nullptr) == 1));
  SOTTO_CHECK(good(BN_generate_prime_ex(q.get(), bits / 2, 0, nullptr, nullptr, nullptr) == 1));
  SOTTO_CHECK(good(BN_mul(made.n_.get(), p.get(), q.get(), context) == 1 &&
                   BN_sqr(made.square_.get(), made.n_.get(), context) == 1));
  // λ = (p-1)(q-1), μ = λ⁻¹ modulo n, with the generator n + 1.
  SOTTO_CHECK(good(BN_sub_word(p.get(), 1) == 1 && BN_sub_word(q.get(), 1) == 1 &&
                   BN_mul(made.lambda_.get(), p.get(), q.get(), context) == 1 &&
                   BN_mod_inverse(made.mu_.get(), made.lambda_.get(), made.n_.get(), context) != nullptr &&
                   BN_MONT_CTX_set(made.by_square_.get(), made.square_.get(), context) == 1));
  return made;
}

// (1 + m·n)·rⁿ modulo n².
Result<Paillier::Number> Paillier::encrypt(std::int64_t value) const {
  BN_CTX* context = context_.get();
  Number message = number(), random = number(), hidden = number();
  SOTTO_CHECK(good(BN_set_word(message.get(), static_cast<BN_ULONG>(value < 0 ? -value : value)) == 1));
  if (value < 0) SOTTO_CHECK(good(BN_sub(message.get(), n_.get(), message.get()) == 1));
  SOTTO_CHECK(good(BN_mul(message.get(), message.get(), n_.get(), context) == 1 &&
                   BN_add_word(message.get(), 1) == 1 && BN_rand_range(random.get(), n_.get()) == 1 &&
                   BN_mod_exp(hidden.get(), random.get(), n_.get(), square_.get(), context) == 1 &&
                   BN_mod_mul(hidden.get(), hidden.get(), message.get(), square_.get(), context) == 1));
  return hidden;
}

Result<std::int64_t> Paillier::decrypt(const BIGNUM& ciphertext) const {
  BN_CTX* context = context_.get();
  Number value = number();
  const Number half = number();
  SOTTO_CHECK(good(BN_mod_exp(value.get(), &ciphertext, lambda_.get(), square_.get(), context) == 1 &&
                   BN_sub_word(value.get(), 1) == 1 &&
                   BN_div(value.get(), nullptr, value.get(), n_.get(), context) == 1 &&
                   BN_mod_mul(value.get(), value.get(), mu_.get(), n_.get(), context) == 1 &&
                   BN_rshift1(half.get(), n_.get()) == 1));
  const bool negative = BN_cmp(value.get(), half.get()) > 0;
  if (negative) SOTTO_CHECK(good(BN_sub(value.get(), n_.get(), value.get()) == 1));
  const auto size = static_cast<std::int64_t>(BN_get_word(value.get()));
  return negative ? -size : size;
}

Result<Paillier::Question> Paillier::ask(std::span<const std::int32_t> user) const {
  BN_CTX* context = context_.get();
  Question question;
  for (const std::int32_t entry : user) {
    SOTTO_TRY(Number hidden, encrypt(entry));
    Number inverse = number();
    SOTTO_CHECK(good(BN_mod_inverse(inverse.get(), hidden.get(), square_.get(), context) != nullptr &&
                     BN_to_montgomery(hidden.get(), hidden.get(), by_square_.get(), context) == 1 &&
                     BN_to_montgomery(inverse.get(), inverse.get(), by_square_.get(), context) == 1));
    question.entries.push_back(std::move(hidden));
    question.inverses.push_back(std::move(inverse));
  }
  return question;
}

// By the weights' bits, highest first: all entries share the squarings.
Result<Paillier::Number> Paillier::score(const Question& question, std::span<const std::int8_t> item) const {
  BN_CTX* context = context_.get();
  Number sum = number();
  SOTTO_CHECK(good(BN_to_montgomery(sum.get(), BN_value_one(), by_square_.get(), context) == 1));
  for (int bit = 2; bit >= 0; --bit) {
    SOTTO_CHECK(good(BN_mod_mul_montgomery(sum.get(), sum.get(), sum.get(), by_square_.get(), context) == 1));
    for (std::size_t i = 0; i < item.size(); ++i) {
      const int size = item[i] < 0 ? -item[i] : item[i];
      if ((size >> bit & 1) == 0) continue;
      const BIGNUM* factor = item[i] < 0 ? question.inverses[i].get() : question.entries[i].get();
      SOTTO_CHECK(good(BN_mod_mul_montgomery(sum.get(), sum.get(), factor, by_square_.get(), context) == 1));
    }
  }
  SOTTO_CHECK(good(BN_from_montgomery(sum.get(), sum.get(), by_square_.get(), context) == 1));
  return sum;
}

}  // namespace sotto::bench
