#pragma once
// Texts as sparse rows of weighted words: (1 + ln count) · ln(items / items with the word), made length 1.
// Words that fewer than `least_items` items have say nothing about others and are left out, as are padding
// and unknown words.
//
// Letters: M items, V words of the vocabulary, C columns.

#include <cstdint>
#include <vector>

#include "model/item_features.h"
#include "model/tensor.h"

namespace sotto {

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

}  // namespace sotto
