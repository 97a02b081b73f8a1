#include "rounds/enrolment.h"

#include "base/chain_hash.h"
#include "secagg/shared/field_hash.h"

namespace sotto::rounds {

namespace {

template <class Fields, class Token>
void visit_token(Fields& fields, Token& token) {
  fields.bytes(token.id);
  fields.flag(token.first_use);
  fields.time(token.expires);
}

template <class Fields, class One>
void visit_enrolment(Fields& fields, One& enrolment) {
  fields.blob(enrolment.token);
  fields.bytes(enrolment.device);
  fields.bytes(enrolment.possession);
}

Digest statement_of(const Digest& token_hash, const IdentityKey& device, const IdentityKey& operator_key) {
  return secagg::FieldHash("sotto enrolment 1").bytes(token_hash).bytes(device).bytes(operator_key).finish();
}

Status check_signer(const OpenedToken& opened, const IdentityKey& operator_key) {
  if (opened.is_signed_by(operator_key)) return {};
  return bad_input("the token is not signed by the operator {}: ask for one of this service",
                   to_hex(operator_key));
}

}  // namespace

std::string sign_token(const EnrolmentToken& token, const Identity& operator_key) {
  FieldWriter fields;
  visit_token(fields, token);
  return sign_document(token_kind, fields.written(), operator_key);
}

Result<OpenedToken> open_token(std::string_view bytes) {
  SOTTO_TRY(const SignedDocument document, read_document(token_kind, bytes));
  OpenedToken opened{{}, document.hash, document.signature};
  FieldReader fields(document.body);
  visit_token(fields, opened.token);
  SOTTO_CHECK(fields.finish(token_kind.what));
  return opened;
}

Result<Enrolment> enrolment_of(std::string token, const Identity& device, const IdentityKey& operator_key) {
  SOTTO_TRY(const OpenedToken opened, open_token(token));
  SOTTO_CHECK(check_signer(opened, operator_key));
  return Enrolment{std::move(token), device.public_key(),
                   device.sign(statement_of(opened.hash, device.public_key(), operator_key))};
}

std::string encode(const Enrolment& enrolment) {
  FieldWriter fields;
  visit_enrolment(fields, enrolment);
  return std::move(fields).take();
}

Result<Enrolment> decode_enrolment(std::string_view bytes) {
  FieldReader fields(bytes);
  Enrolment enrolment;
  visit_enrolment(fields, enrolment);
  SOTTO_CHECK(fields.finish("enrolment"));
  return enrolment;
}

Result<OpenedToken> check_enrolment(const Enrolment& enrolment, const OperatorKeys& keys, UtcTime now) {
  SOTTO_TRY(const OpenedToken opened, open_token(enrolment.token));
  const IdentityKey signer = keys.signer_of(opened).value_or(keys.current());
  SOTTO_CHECK(check_signer(opened, signer));
  if (now >= opened.token.expires)
    return bad_input("the token expired on {}: ask for another", privacy::to_text(opened.token.expires));
  if (!verify(enrolment.possession, statement_of(opened.hash, enrolment.device, signer), enrolment.device))
    return bad_input("whoever enrols has not the key {} that it names", to_hex(enrolment.device));
  return opened;
}

}  // namespace sotto::rounds
