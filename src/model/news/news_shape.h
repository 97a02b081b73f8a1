#pragma once
// Sizes and rates of the news models, and what every model is built from.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "data/dataset.h"
#include "model/layers/layers.h"
#include "model/tensor.h"
#include "text/vocabulary.h"
#include "text/word_tokenizer.h"

namespace sotto::model {

// What models read about items: words of titles and abstracts, categories, entities. Built once per run from
// the catalogue, and only what the model asks for.

// The words of every item, back to back: item i is tokens [offsets[i], offsets[i+1]). Entities read like
// words are stored the same way. Immutable.
struct ItemText {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const std::int32_t> of(data::ItemId item) const {
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

ItemFeatures build_item_features(const data::Catalogue& catalogue, const FeatureUse& use,
                                 const text::WordTokenizer& tokenizer, const text::Vocabulary& vocabulary,
                                 const WordLimits& limits);

class BertModel;

// Defaults are the papers'. A model reads some of these; the registry says which.
struct NewsShape {
  std::int64_t word_size = 300, heads = 20, head_size = 20, filters = 400, pooling_size = 200,
               recent_clicks = 20, category_size = 100, entity_size = 100, user_size = 50, bert_memory = 1024;
  double dropout = 0.2, word_mask = 0.3, user_mask = 0.1;
  bool train_words = false;
  std::string start = "glorot", user_start = "ini", interests = "both";

  // Adds the settings whose name `reads` accepts.
  void bind(SettingsTable& table, const std::function<bool(std::string_view)>& reads);
  std::int64_t attention_size() const { return heads * head_size; }
  Start weights() const { return start == "identity" ? Start::identity : Start::glorot; }
};

// Users with an embedding of their own: those who train. Ascending.
struct KnownUsers {
  std::vector<data::UserId> users;
  // Number of the user's row; users.size(), the row of unknown users, for all others.
  std::int64_t row(data::UserId user) const;
  std::int64_t rows() const { return static_cast<std::int64_t>(users.size()) + 1; }
};

// words: [vocabulary, word_size], row 0 (padding) unused; the model takes them over.
struct ModelInputs {
  NewsShape shape;
  torch::Tensor words;
  std::shared_ptr<const ItemFeatures> items;
  KnownUsers known;
  std::shared_ptr<BertModel> bert = nullptr;  // of models that read titles with one
};

}  // namespace sotto::model
