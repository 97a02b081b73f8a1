#pragma once
// Vectors of items from their words alone: latent semantic analysis of the catalogue. Items are public, so
// nobody's reading is touched and no privacy is spent, and an item published tomorrow has a vector too.
//
// The weighted words of all items are M x V; with its k largest singular triples U S Vᵀ an
// item's vector is its row times V S^(-1/2), of the items it was made from U S^(1/2). The root makes rare
// themes count more than plain LSA does and less than whitening. All vectors are scaled so that the mean
// squared length of the items it was made from is 1.
//
// Letters: M items, V words of the vocabulary, C columns.

#include <cstdint>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "model/news/news_shape.h"
#include "model/tensor.h"

namespace sotto::model {

// Texts as sparse rows of weighted words: (1 + ln count) · ln(items / items with the word), made length 1.
// Words that fewer than `least_items` items have say nothing about others and are left out, as are padding
// and unknown words.

// How much a word says: [V], 0 for words that are left out. From titles and abstracts together.
std::vector<float> word_weights(const ItemFeatures& items, std::size_t vocabulary, std::int64_t least_items);

// Immutable after construction; products run on all threads and do not depend on how many.
class TermMatrix {
 public:
  // The rows of all items. An item without a word that counts has an empty row.
  TermMatrix(const ItemFeatures& items, const std::vector<float>& weights);

  std::int64_t rows() const { return static_cast<std::int64_t>(by_item_.starts.size()) - 1; }
  std::int64_t columns() const { return static_cast<std::int64_t>(by_word_.starts.size()) - 1; }
  torch::Tensor times(const torch::Tensor& dense) const;             // [V, C] -> [M, C], double
  torch::Tensor transposed_times(const torch::Tensor& dense) const;  // [M, C] -> [V, C], double

 private:
  struct Sparse {
    std::vector<std::int64_t> starts, places;
    std::vector<double> values;
    torch::Tensor times(const torch::Tensor& dense) const;
  };
  Sparse by_item_, by_word_;
};

// Immutable, safe to share between threads.
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

}  // namespace sotto::model
