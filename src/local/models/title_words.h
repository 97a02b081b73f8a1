#pragma once
// The words of titles, as the models read them that encode items on the device. Their vectors are public and
// fixed, or trained with the model.

#include <string>

#include "local/models/layers.h"

namespace sotto::local {

inline std::size_t words_of(const ItemTitles& titles, ItemRow item) {
  return titles.offsets[item + 1] - titles.offsets[item];
}

class TitleWords {
 public:
  // vocabulary > 0: so many vectors are trained, and stand in the layout as "words".
  TitleWords(Parts& parts, const std::string& prefix, Index word_size, Index vocabulary);

  // Of one title: attention keeps the square of it.
  static constexpr std::size_t most_words = 512;
  // How many items have a title; refuses titles that are cut wrongly or too long, words without a vector,
  // vectors of another size.
  Result<std::size_t> count_items(const RoundInputs& inputs) const;

  struct Read {
    Value<float> rows;  // [W, word_size], a segment for each item
    Offsets offsets;
  };
  Read of(const Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const;

 private:
  std::size_t first_;
  Index word_size_, vocabulary_;
};

}  // namespace sotto::local
