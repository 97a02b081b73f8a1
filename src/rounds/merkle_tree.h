#pragma once
// The hash tree of RFC 6962 (section 2.1): one hash for a whole list, proofs that an entry is in it, and
// proofs that a longer list begins with a shorter one. Leaves and nodes are hashed with different prefixes,
// so that neither can pass for the other. Pure functions and plain values.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rounds/document.h"

namespace sotto::rounds {

Digest leaf_hash(std::string_view entry);                   // SHA-256(0x00, entry)
Digest node_hash(const Digest& left, const Digest& right);  // SHA-256(0x01, left, right)
inline constexpr std::size_t longest_proof = 64;            // a tree of 2^64 leaves

// A list by its leaf hashes, with every root and proof of every length it ever had, each in time that grows
// with the logarithm of the list.
class MerkleTree {
 public:
  void append(const Digest& leaf);
  std::uint64_t size() const { return complete_.empty() ? 0 : complete_.front().size(); }
  // Of the first `size` entries, at most all.
  Digest root(std::uint64_t size) const;
  Digest root() const { return root(size()); }
  // That entry `index` is among the first `size`; index < size <= size().
  std::vector<Digest> inclusion(std::uint64_t index, std::uint64_t size) const;
  // That the first `size` begin with the first `earlier`; 0 < earlier <= size <= size().
  std::vector<Digest> consistency(std::uint64_t earlier, std::uint64_t size) const;

 private:
  Digest root_of(std::uint64_t first, std::uint64_t count) const;
  void add_path(std::uint64_t m, std::uint64_t first, std::uint64_t count, std::vector<Digest>& path) const;
  void add_subproof(std::uint64_t m, std::uint64_t first, std::uint64_t count, bool whole,
                    std::vector<Digest>& proof) const;
  std::vector<std::vector<Digest>> complete_;  // roots of complete subtrees: of 1 entry, of 2, of 4, ...
};

struct InclusionProof {
  std::uint64_t index = 0;
  std::vector<Digest> path;
};
std::string encode(const InclusionProof& proof);
Result<InclusionProof> decode_inclusion(std::string_view bytes);

bool is_included(const Digest& leaf, const InclusionProof& proof, std::uint64_t size, const Digest& root);
bool is_consistent(std::uint64_t earlier, const Digest& earlier_root, std::uint64_t size, const Digest& root,
                   std::span<const Digest> proof);

// All that must be kept of a list to go on with it: the roots of its complete subtrees, one per bit of its
// length. Extended with the entries that came since, it has the root of the whole list.
class LogFrontier {
 public:
  LogFrontier() = default;
  void append(const Digest& leaf);
  std::uint64_t size() const { return size_; }
  Digest root() const;
  bool operator==(const LogFrontier&) const = default;

  std::string encode() const;
  static Result<LogFrontier> decode(std::string_view bytes);

 private:
  std::uint64_t size_ = 0;
  std::vector<Digest> peaks_;  // of the largest first
};

}  // namespace sotto::rounds
