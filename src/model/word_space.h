#pragma once
// Vectors of items from their words alone: latent semantic analysis of the catalogue. Items are public, so
// nobody's reading is touched and no privacy is spent, and an item published tomorrow has a vector too.
//
// The weighted words of all items (term_weights.h) are M x V; with its k largest singular triples U S Vᵀ an
// item's vector is its row times V S^(-1/2), of the items it was made from U S^(1/2). The root makes rare
// themes count more than plain LSA does and less than whitening. All vectors are scaled so that the mean
// squared length of the items it was made from is 1.
//
// Immutable, safe to share between threads.

#include <cstdint>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "model/item_features.h"
#include "model/tensor.h"

namespace sotto {

class WordSpace {
 public:
  struct Settings {
    std::int64_t size = 64;        // k
    std::int64_t least_items = 3;  // that must have a word for it to count
    std::uint64_t seed = 1;        // of the first guess; the result hardly depends on it
  };
  // Refuses catalogues whose words cannot span so many dimensions, with advice.
  static Result<WordSpace> of_items(const ItemFeatures& items, std::size_t vocabulary,
                                    const Settings& settings);
  // Refuses files that are damaged or of another vocabulary.
  static Result<WordSpace> load(const fs::path& path, std::size_t vocabulary);
  Status save(const fs::path& path) const;
  // From what table() gave.
  explicit WordSpace(torch::Tensor table) : table_(std::move(table)) {}

  // [items, k], float: any items whose words are numbered by the same vocabulary.
  torch::Tensor vectors_of(const ItemFeatures& items) const;
  std::int64_t size() const { return table_.size(1) - 1; }
  // [V, k + 1], float: each word's vector, and behind it how much the word says.
  const torch::Tensor& table() const { return table_; }

 private:
  torch::Tensor table_;
};

}  // namespace sotto
