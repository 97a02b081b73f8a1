#include "rounds/merkle_tree.h"

#include <sodium.h>

#include <algorithm>
#include <bit>

namespace sotto::rounds {

namespace {

Digest prefixed_hash(std::uint8_t prefix, std::initializer_list<secagg::ByteView> parts) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, &prefix, 1);
  for (const secagg::ByteView part : parts)
    if (!part.empty()) crypto_hash_sha256_update(&state, part.data(), part.size());
  Digest hash;
  crypto_hash_sha256_final(&state, hash.data());
  return hash;
}

Digest hash_of_nothing() {
  Digest hash;
  const std::uint8_t nothing = 0;
  crypto_hash_sha256(hash.data(), &nothing, 0);
  return hash;
}

// The largest power of two below n, for n > 1: where RFC 6962 splits a list.
std::uint64_t split_of(std::uint64_t n) { return std::bit_floor(n - 1); }

template <class Fields, class Proof>
void visit_proof(Fields& fields, Proof& proof) {
  fields.number(proof.index);
  fields.list(proof.path, longest_proof, [](auto& inner, auto& hash) { inner.bytes(hash); });
}

}  // namespace

Digest leaf_hash(std::string_view entry) { return prefixed_hash(0, {as_bytes(entry)}); }
Digest node_hash(const Digest& left, const Digest& right) { return prefixed_hash(1, {left, right}); }

void MerkleTree::append(const Digest& leaf) {
  Digest hash = leaf;
  for (std::size_t level = 0;; ++level) {
    if (level == complete_.size()) complete_.emplace_back();
    complete_[level].push_back(hash);
    if (complete_[level].size() % 2 == 1) return;
    hash = node_hash(*(complete_[level].end() - 2), complete_[level].back());
  }
}

// `first` is a multiple of the least power of two that is not below `count`: so are the lists of RFC 6962.
Digest MerkleTree::root_of(std::uint64_t first, std::uint64_t count) const {
  if (count == 0) return hash_of_nothing();
  if (std::has_single_bit(count)) return complete_[std::bit_width(count) - 1][first / count];
  const std::uint64_t k = split_of(count);
  return node_hash(root_of(first, k), root_of(first + k, count - k));
}

Digest MerkleTree::root(std::uint64_t size) const { return root_of(0, size); }

// PATH(m, D[n]) of RFC 6962, with D[n] the `count` entries from `first` on.
void MerkleTree::add_path(std::uint64_t m, std::uint64_t first, std::uint64_t count,
                          std::vector<Digest>& path) const {
  if (count <= 1) return;
  const std::uint64_t k = split_of(count);
  if (m < k) {
    add_path(m, first, k, path);
    path.push_back(root_of(first + k, count - k));
  } else {
    add_path(m - k, first + k, count - k, path);
    path.push_back(root_of(first, k));
  }
}

// SUBPROOF(m, D[n], b) of RFC 6962. `whole`: the verifier knows the root of these entries already.
void MerkleTree::add_subproof(std::uint64_t m, std::uint64_t first, std::uint64_t count, bool whole,
                              std::vector<Digest>& proof) const {
  if (m == count) {
    if (!whole) proof.push_back(root_of(first, count));
    return;
  }
  const std::uint64_t k = split_of(count);
  if (m <= k) {
    add_subproof(m, first, k, whole, proof);
    proof.push_back(root_of(first + k, count - k));
  } else {
    add_subproof(m - k, first + k, count - k, false, proof);
    proof.push_back(root_of(first, k));
  }
}

std::vector<Digest> MerkleTree::inclusion(std::uint64_t index, std::uint64_t size) const {
  std::vector<Digest> path;
  add_path(index, 0, size, path);
  return path;
}

std::vector<Digest> MerkleTree::consistency(std::uint64_t earlier, std::uint64_t size) const {
  std::vector<Digest> proof;
  add_subproof(earlier, 0, size, true, proof);
  return proof;
}

std::string encode(const InclusionProof& proof) {
  FieldWriter fields;
  visit_proof(fields, proof);
  return std::move(fields).take();
}

Result<InclusionProof> decode_inclusion(std::string_view bytes) {
  FieldReader fields(bytes);
  InclusionProof proof;
  visit_proof(fields, proof);
  SOTTO_CHECK(fields.finish("proof of inclusion"));
  return proof;
}

bool is_included(const Digest& leaf, const InclusionProof& proof, std::uint64_t size, const Digest& root) {
  if (proof.index >= size) return false;
  std::uint64_t at = proof.index, last = size - 1;
  Digest hash = leaf;
  for (const Digest& sibling : proof.path) {
    if (last == 0) return false;
    if (at % 2 == 1 || at == last) {
      hash = node_hash(sibling, hash);
      while (at % 2 == 0 && at != 0) at /= 2, last /= 2;
    } else {
      hash = node_hash(hash, sibling);
    }
    at /= 2, last /= 2;
  }
  return last == 0 && hash == root;
}

bool is_consistent(std::uint64_t earlier, const Digest& earlier_root, std::uint64_t size, const Digest& root,
                   std::span<const Digest> proof) {
  if (earlier == 0 || earlier > size) return false;
  if (earlier == size) return proof.empty() && earlier_root == root;
  std::vector<Digest> hashes(proof.begin(), proof.end());
  if (std::has_single_bit(earlier)) hashes.insert(hashes.begin(), earlier_root);
  if (hashes.empty()) return false;
  std::uint64_t at = earlier - 1, last = size - 1;
  while (at % 2 == 1) at /= 2, last /= 2;
  Digest before = hashes[0], after = hashes[0];
  for (const Digest& hash : std::span(hashes).subspan(1)) {
    if (last == 0) return false;
    if (at % 2 == 1 || at == last) {
      before = node_hash(hash, before);
      after = node_hash(hash, after);
      while (at % 2 == 0 && at != 0) at /= 2, last /= 2;
    } else {
      after = node_hash(after, hash);
    }
    at /= 2, last /= 2;
  }
  return last == 0 && before == earlier_root && after == root;
}

void LogFrontier::append(const Digest& leaf) {
  Digest hash = leaf;
  for (std::uint64_t rest = size_; rest % 2 == 1; rest /= 2) {
    hash = node_hash(peaks_.back(), hash);
    peaks_.pop_back();
  }
  peaks_.push_back(hash);
  ++size_;
}

Digest LogFrontier::root() const {
  if (peaks_.empty()) return hash_of_nothing();
  Digest hash = peaks_.back();
  for (std::size_t i = peaks_.size() - 1; i-- > 0;) hash = node_hash(peaks_[i], hash);
  return hash;
}

std::string LogFrontier::encode() const {
  FieldWriter fields;
  fields.number(size_);
  fields.list(peaks_, longest_proof, [](auto& inner, const Digest& hash) { inner.bytes(hash); });
  return std::move(fields).take();
}

Result<LogFrontier> LogFrontier::decode(std::string_view bytes) {
  FieldReader fields(bytes);
  LogFrontier frontier;
  fields.number(frontier.size_);
  fields.list(frontier.peaks_, longest_proof, [](auto& inner, Digest& hash) { inner.bytes(hash); });
  SOTTO_CHECK(fields.finish("frontier of a log"));
  const auto subtrees = static_cast<std::size_t>(std::popcount(frontier.size_));
  if (frontier.peaks_.size() != subtrees)
    return bad_input("a log of {} entries has {} complete subtrees, not {}", frontier.size_, subtrees,
                     frontier.peaks_.size());
  return frontier;
}

}  // namespace sotto::rounds
