#include "rounds/operator_keys.h"

#include <algorithm>

#include "base/chain_hash.h"

namespace sotto::rounds {

namespace {

template <class Fields, class Change>
void visit_change(Fields& fields, Change& change) {
  fields.list(change.replaced, KeyChange::most_replaced, [](auto& inner, auto& key) { inner.bytes(key); });
  fields.bytes(change.after);
  fields.flag(change.revokes);
  fields.time(change.time);
}

Status check_sense(const KeyChange& change) {
  const auto& replaced = change.replaced;
  if (replaced.empty() || replaced.size() > KeyChange::most_replaced)
    return bad_input("a key change replaces {} keys: 1 to {} are possible", replaced.size(),
                     KeyChange::most_replaced);
  if (std::adjacent_find(replaced.begin(), replaced.end(), std::greater_equal<>()) != replaced.end())
    return bad_input("the keys that a change replaces are not in ascending order, or one stands there twice");
  if (std::find(replaced.begin(), replaced.end(), change.after) != replaced.end())
    return bad_input("the key {} would take its own place", to_hex(change.after));
  return {};
}

}  // namespace

Result<std::string> sign_key_change(const KeyChange& change, const Identity& signer) {
  SOTTO_CHECK(check_sense(change));
  if (change.after == signer.public_key())
    return bad_input("a key cannot put itself into the operator's place: name another");
  FieldWriter fields;
  visit_change(fields, change);
  return sign_document(key_change_kind, fields.written(), signer);
}

Result<OpenedKeyChange> open_key_change(std::string_view bytes) {
  SOTTO_TRY(const SignedDocument document, read_document(key_change_kind, bytes));
  OpenedKeyChange opened{{}, document.hash, document.signature};
  FieldReader fields(document.body);
  visit_change(fields, opened.change);
  SOTTO_CHECK(fields.finish(key_change_kind.what));
  SOTTO_CHECK(check_sense(opened.change));
  return opened;
}

OperatorKeys::Former* OperatorKeys::find(const IdentityKey& key) {
  const auto found =
      std::find_if(former_.begin(), former_.end(), [&](const Former& one) { return one.key == key; });
  return found == former_.end() ? nullptr : &*found;
}

bool OperatorKeys::is_revoked(const IdentityKey& key) const {
  return std::any_of(former_.begin(), former_.end(),
                     [&](const Former& one) { return one.key == key && one.revoked; });
}

bool OperatorKeys::follow(const OpenedKeyChange& opened, std::uint64_t log_index) {
  const KeyChange& change = opened.change;
  const bool by_recovery = recovery_ && opened.is_signed_by(*recovery_);
  // Whoever has the current key may give it away, and speak of no other.
  const bool by_current =
      change.replaced.size() == 1 && change.replaced.front() == current_ && opened.is_signed_by(current_);
  if (!by_recovery && !by_current) return false;
  if (former_.size() + change.replaced.size() > most_former) return false;
  const bool moves =
      std::find(change.replaced.begin(), change.replaced.end(), current_) != change.replaced.end();
  if (moves && find(change.after) != nullptr) return false;
  for (const IdentityKey& key : change.replaced) {
    Former* known = find(key);
    if (known == nullptr)
      former_.push_back({key, change.revokes, log_index});
    else if (change.revokes)
      known->revoked = true;
  }
  if (moves) current_ = change.after;
  return true;
}

Status OperatorKeys::check(const OpenedCampaign& campaign, std::uint64_t log_index) const {
  if (campaign.is_signed_by(current_)) return {};
  for (const Former& one : former_) {
    if (!campaign.is_signed_by(one.key)) continue;
    if (one.revoked)
      return bad_input("the campaign is signed by the key {}, which its operator has revoked",
                       to_hex(one.key));
    if (log_index < one.until) return {};
    return bad_input("the campaign is signed by the key {}, which was replaced before", to_hex(one.key));
  }
  return bad_input("the campaign is not signed by the operator {}", to_hex(current_));
}

template <class Fields, class Keys>
void OperatorKeys::visit(Fields& fields, Keys& keys) {
  fields.bytes(keys.current_);
  fields.optional(keys.recovery_, [](auto& inner, auto& key) { inner.bytes(key); });
  fields.list(keys.former_, most_former, [](auto& inner, auto& one) {
    inner.bytes(one.key);
    inner.flag(one.revoked);
    inner.number(one.until);
  });
}

std::string OperatorKeys::encode() const {
  FieldWriter fields;
  visit(fields, *this);
  return std::move(fields).take();
}

Result<OperatorKeys> OperatorKeys::decode(std::string_view bytes) {
  OperatorKeys keys{IdentityKey{}};
  FieldReader fields(bytes);
  visit(fields, keys);
  SOTTO_CHECK(fields.finish("operator's keys"));
  return keys;
}

}  // namespace sotto::rounds
