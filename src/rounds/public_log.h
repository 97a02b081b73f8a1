#pragma once
// The public log: everything that devices may be asked to use, in one list that only grows. Its owner, a
// coordinator or a serving operator, signs the head of every state; witnesses cosign heads that continue what
// they saw before. A device that extends its frontier to the head of an order knows that it saw the same list
// as everybody in its group, and with witnesses as everybody they saw.
//
// As records: a leaf is followed by the head that has it; cosignatures follow the head they are of. No I/O.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/append_log.h"
#include "rounds/merkle_tree.h"

namespace sotto::rounds {

// keys: a change of the operator's key (rounds/operator_keys.h), by the SHA-256 of the document. pack: of a
// serving operator, by the SHA-256 of its bytes. guide: of blind serving, by its version, which questions
// name.
enum class LeafKind : std::uint8_t { campaign = 1, model = 2, pack = 3, keys = 4, guide = 5 };
inline constexpr LeafKind last_leaf_kind = LeafKind::guide;
std::string_view name(LeafKind kind);

// What is named by its hash. Versions have no other names, so that none can tag a device.
struct LogLeaf {
  LeafKind kind = LeafKind::campaign;
  Digest hash{};
  bool operator==(const LogLeaf&) const = default;
};
Digest leaf_hash(const LogLeaf& leaf);  // in the tree

struct LogHead {
  std::uint64_t size = 0;
  Digest root{};
  UtcTime time{};
  bool operator==(const LogHead&) const = default;
};
template <class Fields, class Head>
void visit_head(Fields& fields, Head& head) {
  fields.number(head.size);
  fields.bytes(head.root);
  fields.time(head.time);
}

struct Cosignature {
  IdentityKey witness{};
  Signature signature{};
};

struct SignedHead {
  LogHead head;
  Signature signature{};  // of the log's owner
  std::vector<Cosignature> cosignatures;
};
inline constexpr std::size_t most_witnesses = 16;

Signature sign_head(const LogHead& head, const Identity& owner);
Cosignature cosign_head(const LogHead& head, const Identity& witness);
bool is_signed_by(const SignedHead& head, const IdentityKey& owner);
bool is_cosigned(const LogHead& head, const Cosignature& cosignature);
// How many of these witnesses signed the head, each counted once.
std::size_t witnesses_of(const SignedHead& head, std::span<const IdentityKey> witnesses);

std::string encode(const SignedHead& head);
Result<SignedHead> decode_head(std::string_view bytes);

// One witness's word, as it travels from the witness to the log.
struct HeadCosignature {
  LogHead head;
  Cosignature cosignature;
};
std::string encode(const HeadCosignature& word);
Result<HeadCosignature> decode_cosignature(std::string_view bytes);

// That an entry is in a log, and that the log goes on where one that was seen before ended.
struct LogProof {
  SignedHead head;
  InclusionProof entry;
  std::vector<Digest> continues;  // from the size that was seen; none where nothing was
};
std::string encode(const LogProof& proof);
Result<LogProof> decode_proof(std::string_view bytes);
// By this owner, with this entry, continuing what was seen: else it says what is wrong.
Status check(const LogProof& proof, const LogLeaf& leaf, const IdentityKey& owner,
             const std::optional<LogHead>& seen);

// The log of one owner. take() replays records that follow each other and refuses any other; a refused record
// changes nothing. Not thread-safe.
class PublicLog {
 public:
  explicit PublicLog(const IdentityKey& owner) : owner_(owner) {}

  const IdentityKey& owner() const { return owner_; }
  const std::vector<LogLeaf>& leaves() const { return leaves_; }
  const MerkleTree& tree() const { return tree_; }
  const LogFrontier& frontier() const { return frontier_; }
  const std::optional<SignedHead>& head() const { return head_; }  // none: the log is empty
  // Where a leaf is; none: it is not in the log.
  std::optional<std::uint64_t> find(const LogLeaf& leaf) const;
  // Of a leaf, for whoever saw the first `seen` entries. Refused when it is not there, or the log is shorter.
  Result<LogProof> prove(const LogLeaf& leaf, std::uint64_t seen) const;

  // The records that append a leaf. Refuses one that is there, another signer and a time before the last
  // head's.
  Result<std::vector<std::string>> records_for(const LogLeaf& leaf, const Identity& owner, UtcTime now) const;
  // The record that appends a witness's word. Refuses words about another head than the last, and a second
  // of the same witness.
  Result<std::string> record_for(const HeadCosignature& word) const;

  Status take(std::string_view record);
  // Between a leaf and its head nothing may end.
  bool is_complete() const { return !open_leaf_; }

 private:
  Status check_word(const LogHead& head, const Cosignature& cosignature) const;
  IdentityKey owner_;
  std::vector<LogLeaf> leaves_;
  std::map<Digest, std::uint64_t> places_;  // by the hash of an entry
  MerkleTree tree_;
  LogFrontier frontier_;  // of the same entries
  std::optional<LogLeaf> open_leaf_;
  std::optional<SignedHead> head_;
};

// The log as a file: its opening is the owner's key.
inline constexpr LogFormat public_log_format{
    .what = "public log",
    .magic = "SOTTOPUB",
    .version = 1,
    .opening_bytes = 32,
    .link = LogFormat::Link::blake2b,
    .most_body_bytes = 1 << 12,
    .most_file_bytes = std::uint64_t{1} << 30,
    .last_frame_may_be_garbled = false,
    .advice = "take the copy of another node or of a backup; 'sotto log verify' checks it"};

}  // namespace sotto::rounds
