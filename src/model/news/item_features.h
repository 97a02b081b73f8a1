#pragma once
// What models read about items: words of titles and abstracts, categories, entities. Built once per run from
// the catalogue, and only what the model asks for.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "model/tensor.h"
#include "text/vocabulary.h"
#include "text/word_tokenizer.h"

namespace sotto {

// The words of every item, back to back: item i is tokens [offsets[i], offsets[i+1]). Entities read like
// words are stored the same way. Immutable.
struct ItemText {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const std::int32_t> of(ItemId item) const {
    return std::span(tokens).subspan(static_cast<std::size_t>(offsets[item]),
                                     static_cast<std::size_t>(offsets[item + 1] - offsets[item]));
  }
};

// Titles as words beside the entities they name, row by row: word none or entity none where there is none.
// An entity whose label is not found in the title has a row of its own behind the words.
struct LinkedText {
  static constexpr std::int32_t none = -1;
  std::vector<std::int32_t> words, entities;
  std::vector<std::int64_t> offsets;
};

struct ItemFeatures {
  ItemText titles, abstracts;
  std::vector<std::int32_t> categories, subcategories;  // code 0: unknown
  std::int64_t category_count = 0, subcategory_count = 0;
  ItemText title_entities;
  LinkedText linked_titles;
  std::int64_t entity_count = 0;
  torch::Tensor entity_vectors;  // [entity_count, its size]; undefined: the data has none
};

// What a model reads beside titles.
struct FeatureUse {
  bool abstracts = false, categories = false, entities = false;
};

struct WordLimits {
  std::size_t title = 30, abstract = 50;
};

ItemFeatures build_item_features(const Catalogue& catalogue, const FeatureUse& use,
                                 const WordTokenizer& tokenizer, const Vocabulary& vocabulary,
                                 const WordLimits& limits);

}  // namespace sotto
