#pragma once
// How a device becomes known to a coordinator. The operator signs tokens, each for one device; the device
// answers with a key of its own and a signature that binds token, key and operator. A token says whether
// its device takes part for the first time: only then a missing ledger begins with its whole budget.

#include "rounds/operator_keys.h"

namespace sotto::rounds {

struct EnrolmentToken {
  Digest id{};  // random: each is used once
  bool first_use = false;
  UtcTime expires{};
};
inline constexpr DocumentKind token_kind{"enrolment token", "SOTTOTOK", 1, "sotto enrolment token 1", 256};

std::string sign_token(const EnrolmentToken& token, const Identity& operator_key);
struct OpenedToken {
  EnrolmentToken token;
  Digest hash{};
  Signature signature{};
  bool is_signed_by(const IdentityKey& operator_key) const { return verify(signature, hash, operator_key); }
};
Result<OpenedToken> open_token(std::string_view bytes);

// What a device sends.
struct Enrolment {
  std::string token;  // document
  IdentityKey device{};
  Signature possession{};
};
// Refuses a token that is not the operator's.
Result<Enrolment> enrolment_of(std::string token, const Identity& device, const IdentityKey& operator_key);
std::string encode(const Enrolment& enrolment);
Result<Enrolment> decode_enrolment(std::string_view bytes);

// Was the token given out by this operator, is it valid now, and has the sender the key that it names?
Result<OpenedToken> check_enrolment(const Enrolment& enrolment, const OperatorKeys& keys, UtcTime now);

}  // namespace sotto::rounds
