#include "rounds/public_log.h"

#include <algorithm>

#include "base/chain_hash.h"
#include "secagg/shared/field_hash.h"

namespace sotto::rounds {

namespace {

enum class LogRecord : std::uint8_t { leaf = 1, head = 2, cosignature = 3 };

template <class Fields, class Leaf>
void visit_leaf(Fields& fields, Leaf& leaf) {
  fields.choice(leaf.kind, LeafKind::campaign, last_leaf_kind);
  fields.bytes(leaf.hash);
}
template <class Fields, class One>
void visit_cosignature(Fields& fields, One& cosignature) {
  fields.bytes(cosignature.witness);
  fields.bytes(cosignature.signature);
}
template <class Fields, class Head>
void visit_signed(Fields& fields, Head& head) {
  visit_head(fields, head.head);
  fields.bytes(head.signature);
  fields.list(head.cosignatures, most_witnesses,
              [](auto& inner, auto& cosignature) { visit_cosignature(inner, cosignature); });
}
template <class Fields, class Word>
void visit_word(Fields& fields, Word& word) {
  visit_head(fields, word.head);
  visit_cosignature(fields, word.cosignature);
}

// The head and the entry's proof travel in their own encodings.
template <class Fields, class Text, class Path>
void visit_log_proof(Fields& fields, Text& head, Text& entry, Path& continues) {
  fields.long_blob(head);
  fields.long_blob(entry);
  fields.list(continues, longest_proof, [](auto& inner, auto& hash) { inner.bytes(hash); });
}

// A record of any kind: the members of the others stay as they are.
struct AnyRecord {
  LogRecord kind = LogRecord::leaf;
  LogLeaf leaf;
  SignedHead head;
  HeadCosignature word;
};
template <class Fields, class Record>
void visit_record(Fields& fields, Record& record) {
  fields.choice(record.kind, LogRecord::leaf, LogRecord::cosignature);
  if (record.kind == LogRecord::leaf) visit_leaf(fields, record.leaf);
  if (record.kind == LogRecord::head) visit_signed(fields, record.head);
  if (record.kind == LogRecord::cosignature) visit_word(fields, record.word);
}
std::string bytes_of(const AnyRecord& record) {
  FieldWriter fields;
  visit_record(fields, record);
  return std::move(fields).take();
}

Digest statement_about(std::string_view label, const LogHead& head) {
  return secagg::FieldHash(label)
      .number(head.size)
      .bytes(head.root)
      .number(static_cast<std::uint64_t>(head.time.time_since_epoch().count()))
      .finish();
}
Digest owners_statement(const LogHead& head) { return statement_about("sotto log head 1", head); }
Digest witness_statement(const LogHead& head) { return statement_about("sotto log cosignature 1", head); }

}  // namespace

std::string_view name(LeafKind kind) {
  switch (kind) {
    case LeafKind::campaign:
      return "campaign";
    case LeafKind::model:
      return "model";
    case LeafKind::pack:
      return "pack";
    case LeafKind::keys:
      return "keys";
    case LeafKind::guide:
      break;
  }
  return "guide";
}

Digest leaf_hash(const LogLeaf& leaf) {
  FieldWriter fields;
  visit_leaf(fields, leaf);
  return leaf_hash(fields.written());
}

Signature sign_head(const LogHead& head, const Identity& owner) { return owner.sign(owners_statement(head)); }

Cosignature cosign_head(const LogHead& head, const Identity& witness) {
  return {witness.public_key(), witness.sign(witness_statement(head))};
}

bool is_signed_by(const SignedHead& head, const IdentityKey& owner) {
  return verify(head.signature, owners_statement(head.head), owner);
}

bool is_cosigned(const LogHead& head, const Cosignature& cosignature) {
  return verify(cosignature.signature, witness_statement(head), cosignature.witness);
}

std::size_t witnesses_of(const SignedHead& head, std::span<const IdentityKey> witnesses) {
  return static_cast<std::size_t>(
      std::count_if(witnesses.begin(), witnesses.end(), [&](const IdentityKey& witness) {
        return std::any_of(head.cosignatures.begin(), head.cosignatures.end(), [&](const Cosignature& one) {
          return one.witness == witness && is_cosigned(head.head, one);
        });
      }));
}

std::string encode(const SignedHead& head) {
  FieldWriter fields;
  visit_signed(fields, head);
  return std::move(fields).take();
}

Result<SignedHead> decode_head(std::string_view bytes) {
  FieldReader fields(bytes);
  SignedHead head;
  visit_signed(fields, head);
  SOTTO_CHECK(fields.finish("head of a log"));
  return head;
}

std::string encode(const HeadCosignature& word) {
  FieldWriter fields;
  visit_word(fields, word);
  return std::move(fields).take();
}

Result<HeadCosignature> decode_cosignature(std::string_view bytes) {
  FieldReader fields(bytes);
  HeadCosignature word;
  visit_word(fields, word);
  SOTTO_CHECK(fields.finish("cosignature"));
  return word;
}

std::string encode(const LogProof& proof) {
  FieldWriter fields;
  std::string head = encode(proof.head), entry = encode(proof.entry);
  visit_log_proof(fields, head, entry, proof.continues);
  return std::move(fields).take();
}

Result<LogProof> decode_proof(std::string_view bytes) {
  FieldReader fields(bytes);
  LogProof proof;
  std::string head, entry;
  visit_log_proof(fields, head, entry, proof.continues);
  SOTTO_CHECK(fields.finish("proof of a log"));
  SOTTO_TRY(proof.head, decode_head(head));
  SOTTO_TRY(proof.entry, decode_inclusion(entry));
  return proof;
}

Status check(const LogProof& proof, const LogLeaf& leaf, const IdentityKey& owner,
             const std::optional<LogHead>& seen) {
  const LogHead& head = proof.head.head;
  if (!is_signed_by(proof.head, owner))
    return bad_input("the head of the log is not signed by its owner {}", to_hex(owner));
  if (!is_included(leaf_hash(leaf), proof.entry, head.size, head.root))
    return bad_input("the {} {} is not in the log of {} entries", name(leaf.kind), to_hex(leaf.hash),
                     head.size);
  if (!seen) return {};
  if (head.size < seen->size)
    return bad_input("the log has {} entries, and {} were seen before: entries were taken away", head.size,
                     seen->size);
  if (!is_consistent(seen->size, seen->root, head.size, head.root, proof.continues))
    return bad_input("the log of {} entries does not continue the {} that were seen before: it was forked",
                     head.size, seen->size);
  return {};
}

std::optional<std::uint64_t> PublicLog::find(const LogLeaf& leaf) const {
  const auto found = places_.find(leaf_hash(leaf));
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

Result<LogProof> PublicLog::prove(const LogLeaf& leaf, std::uint64_t seen) const {
  const auto index = find(leaf);
  if (!index || !is_complete())
    return bad_input("{} {} is not in the log", name(leaf.kind), to_hex(leaf.hash));
  const std::uint64_t size = tree_.size();
  if (seen > size)
    return bad_input("the log has {} entries, and not the {} that were seen: it is another one", size, seen);
  return LogProof{*head_,
                  {*index, tree_.inclusion(*index, size)},
                  seen == 0 ? std::vector<Digest>() : tree_.consistency(seen, size)};
}

Result<std::vector<std::string>> PublicLog::records_for(const LogLeaf& leaf, const Identity& owner,
                                                        UtcTime now) const {
  if (owner.public_key() != owner_)
    return bad_input("this log belongs to the key {}: {} cannot sign its heads", to_hex(owner_),
                     to_hex(owner.public_key()));
  if (const auto index = find(leaf))
    return bad_input("{} {} is in the log already, as entry {}", name(leaf.kind), to_hex(leaf.hash), *index);
  if (head_ && now < head_->head.time)
    return bad_input("the clock says {}, and the last head is of {}: set the clock right",
                     privacy::to_text(now), privacy::to_text(head_->head.time));
  LogFrontier longer = frontier_;
  longer.append(leaf_hash(leaf));
  const LogHead head{longer.size(), longer.root(), now};
  return std::vector{bytes_of({.kind = LogRecord::leaf, .leaf = leaf}),
                     bytes_of({.kind = LogRecord::head, .head = {head, sign_head(head, owner), {}}})};
}

Status PublicLog::check_word(const LogHead& head, const Cosignature& cosignature) const {
  if (!head_ || open_leaf_) return bad_input("a cosignature stands where there is no head to cosign");
  if (!(head == head_->head))
    return bad_input(
        "the cosignature is about a head of {} entries, and the last one has {}: ask the witness again",
        head.size, head_->head.size);
  if (!is_cosigned(head, cosignature))
    return bad_input("the cosignature is not by the witness {}", to_hex(cosignature.witness));
  if (std::any_of(head_->cosignatures.begin(), head_->cosignatures.end(),
                  [&](const Cosignature& one) { return one.witness == cosignature.witness; }))
    return bad_input("the witness {} has cosigned this head already", to_hex(cosignature.witness));
  if (head_->cosignatures.size() == most_witnesses)
    return bad_input("the head has {} cosignatures, and no more are kept", most_witnesses);
  return {};
}

Result<std::string> PublicLog::record_for(const HeadCosignature& word) const {
  SOTTO_CHECK(check_word(word.head, word.cosignature));
  return bytes_of({.kind = LogRecord::cosignature, .word = word});
}

Status PublicLog::take(std::string_view record) {
  FieldReader fields(record);
  AnyRecord read;
  visit_record(fields, read);
  SOTTO_CHECK(fields.finish("record of a public log"));
  if (read.kind == LogRecord::cosignature) {
    SOTTO_CHECK(check_word(read.word.head, read.word.cosignature));
    head_->cosignatures.push_back(read.word.cosignature);
    return {};
  }
  if (read.kind == LogRecord::leaf) {
    if (open_leaf_) return bad_input("entry {} of the log has no signed head", leaves_.size());
    if (find(read.leaf))
      return bad_input("{} {} is in the log twice", name(read.leaf.kind), to_hex(read.leaf.hash));
    open_leaf_ = read.leaf;
    return {};
  }
  if (!open_leaf_) return bad_input("a head follows no new entry of the log");
  const LogHead& head = read.head.head;
  if (!read.head.cosignatures.empty()) return bad_input("a head in the log brings cosignatures along");
  LogFrontier longer = frontier_;
  longer.append(leaf_hash(*open_leaf_));
  if (head.size != longer.size() || head.root != longer.root())
    return bad_input("the head of {} entries is not that of the log", head.size);
  if (head_ && head.time < head_->head.time) return bad_input("the heads of the log go back in time");
  if (!is_signed_by(read.head, owner_))
    return bad_input("the head of {} entries is not signed by the log's owner {}", head.size, to_hex(owner_));
  const Digest entry = leaf_hash(*open_leaf_);
  places_[entry] = leaves_.size();
  tree_.append(entry);
  frontier_ = std::move(longer);
  leaves_.push_back(*open_leaf_);
  open_leaf_.reset();
  head_ = std::move(read.head);
  return {};
}

}  // namespace sotto::rounds
