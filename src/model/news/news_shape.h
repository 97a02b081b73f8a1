#pragma once
// Sizes and rates of the news models, and what every model is built from.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "model/layers/layers.h"
#include "model/news/item_features.h"
#include "model/tensor.h"

namespace sotto {

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
  std::vector<UserId> users;
  // Number of the user's row; users.size(), the row of unknown users, for all others.
  std::int64_t row(UserId user) const;
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

}  // namespace sotto
