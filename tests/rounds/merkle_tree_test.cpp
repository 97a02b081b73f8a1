#include "rounds/merkle_tree.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include "base/chain_hash.h"

namespace sotto::rounds {
namespace {

// The entries and roots that implementations of RFC 6962 publish to compare with.
const std::vector<std::string> published_entries = {
    "",
    std::string("\x00", 1),
    "\x10",
    "\x20\x21",
    "\x30\x31",
    "\x40\x41\x42\x43",
    "\x50\x51\x52\x53\x54\x55\x56\x57",
    "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
const std::vector<std::string> published_roots = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

MerkleTree published_tree() {
  MerkleTree tree;
  for (const std::string& entry : published_entries) tree.append(leaf_hash(entry));
  return tree;
}

std::vector<std::string> in_hex(const std::vector<Digest>& hashes) {
  std::vector<std::string> text;
  for (const Digest& hash : hashes) text.push_back(to_hex(hash));
  return text;
}

// The definition of RFC 6962, by levels instead of by splits: pairs are joined, an odd one out moves up.
std::string slow_sha256(const std::string& text) {
  std::string hash(32, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(hash.data()),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return hash;
}
std::string slow_root(const std::vector<std::string>& entries) {
  std::vector<std::string> level;
  for (const std::string& entry : entries) level.push_back(slow_sha256(std::string(1, '\0') + entry));
  while (level.size() > 1) {
    std::vector<std::string> above;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2)
      above.push_back(slow_sha256("\x01" + level[i] + level[i + 1]));
    if (level.size() % 2 == 1) above.push_back(level.back());
    level = above;
  }
  return to_hex(as_bytes(level[0]));
}

TEST(MerkleTree, HasThePublishedRoots) {
  const MerkleTree tree = published_tree();
  for (std::size_t size = 0; size <= 8; ++size)
    EXPECT_EQ(to_hex(tree.root(size)), published_roots[size]) << size;
}

TEST(MerkleTree, HasThePublishedProofs) {
  const MerkleTree tree = published_tree();
  EXPECT_EQ(in_hex(tree.inclusion(5, 8)),
            (std::vector<std::string>{"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                                      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                                      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}));
  EXPECT_EQ(in_hex(tree.consistency(6, 8)),
            (std::vector<std::string>{"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                                      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                                      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}));
}

TEST(MerkleTree, AgreesWithTheDefinitionAtEveryLength) {
  MerkleTree tree;
  LogFrontier frontier;
  std::vector<std::string> entries;
  EXPECT_EQ(frontier.root(), tree.root());
  for (int i = 0; i < 70; ++i) {
    entries.push_back("entry " + std::to_string(i));
    tree.append(leaf_hash(entries.back()));
    frontier.append(leaf_hash(entries.back()));
    EXPECT_EQ(to_hex(tree.root()), slow_root(entries)) << i;
    EXPECT_EQ(frontier.root(), tree.root()) << i;
    EXPECT_EQ(LogFrontier::decode(frontier.encode()).value(), frontier);
  }
}

MerkleTree numbered_tree(int size) {
  MerkleTree tree;
  for (int i = 0; i < size; ++i) tree.append(leaf_hash(std::to_string(i)));
  return tree;
}

TEST(MerkleTree, ProvesEveryEntryAndNothingElse) {
  const MerkleTree tree = numbered_tree(23);
  for (std::uint64_t size = 1; size <= 23; ++size) {
    const Digest root = tree.root(size);
    for (std::uint64_t index = 0; index < size; ++index) {
      const InclusionProof proof{index, tree.inclusion(index, size)};
      const Digest leaf = leaf_hash(std::to_string(index));
      EXPECT_TRUE(is_included(leaf, proof, size, root));
      EXPECT_FALSE(is_included(leaf_hash("another"), proof, size, root));
      if (size > 1) {
        EXPECT_FALSE(is_included(leaf, {(index + 1) % size, proof.path}, size, root)) << index << " " << size;
        EXPECT_FALSE(is_included(leaf, {index, {proof.path.begin(), proof.path.end() - 1}}, size, root));
      }
      InclusionProof longer = proof;
      longer.path.push_back(root);
      EXPECT_FALSE(is_included(leaf, longer, size, root));
      for (std::size_t i = 0; i < proof.path.size(); ++i) {
        InclusionProof bent = proof;
        bent.path[i][3] ^= 1;
        EXPECT_FALSE(is_included(leaf, bent, size, root));
      }
    }
    EXPECT_FALSE(is_included(leaf_hash("0"), {size, {}}, size, root));
  }
}

TEST(MerkleTree, ProvesThatAListBeginsWithAShorterOneAndNothingElse) {
  const MerkleTree tree = numbered_tree(23);
  for (std::uint64_t size = 1; size <= 23; ++size) {
    for (std::uint64_t earlier = 1; earlier <= size; ++earlier) {
      const auto proof = tree.consistency(earlier, size);
      const Digest before = tree.root(earlier), after = tree.root(size);
      EXPECT_TRUE(is_consistent(earlier, before, size, after, proof)) << earlier << " " << size;
      Digest forked = before;
      forked[0] ^= 1;
      EXPECT_FALSE(is_consistent(earlier, forked, size, after, proof));
      EXPECT_FALSE(is_consistent(earlier, before, size, forked, proof));
      auto longer = proof;
      longer.push_back(after);
      EXPECT_FALSE(is_consistent(earlier, before, size, after, longer));
      for (std::size_t i = 0; i < proof.size(); ++i) {
        auto bent = proof;
        bent[i][31] ^= 0x80;
        EXPECT_FALSE(is_consistent(earlier, before, size, after, bent));
      }
    }
  }
}

TEST(MerkleTree, ProofsAndFrontiersHaveOneEncoding) {
  const MerkleTree tree = numbered_tree(11);
  const std::string bytes = encode(InclusionProof{4, tree.inclusion(4, 11)});
  EXPECT_EQ(encode(decode_inclusion(bytes).value()), bytes);
  EXPECT_FALSE(decode_inclusion(bytes + "x"));
  EXPECT_FALSE(decode_inclusion(bytes.substr(1)));
  LogFrontier frontier;
  for (int i = 0; i < 11; ++i) frontier.append(leaf_hash(std::to_string(i)));
  std::string other_size = frontier.encode();
  other_size[0] = 15;  // four subtrees, and there are three
  EXPECT_FALSE(LogFrontier::decode(other_size));
}

}  // namespace
}  // namespace sotto::rounds
