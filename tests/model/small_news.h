#pragma once
// Six items with all features, some missing, and narrow models over them.

#include "model/bert/bert_model.h"
#include "model/news/model_registry.h"
#include "model/news/ranking_model.h"

namespace sotto::model::testing {

inline ItemText lists(std::vector<std::vector<std::int32_t>> rows) {
  ItemText text;
  text.offsets.push_back(0);
  for (const auto& row : rows) {
    text.tokens.insert(text.tokens.end(), row.begin(), row.end());
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
  }
  return text;
}

// Item 2 has no words but a category; item 5 has nothing at all. Entities 0 and 1 have vectors of size 3.
inline std::shared_ptr<ItemFeatures> small_items() {
  auto items = std::make_shared<ItemFeatures>();
  items->titles = lists({{2, 3, 4}, {5, 2}, {}, {6, 7, 8, 9}, {3, 4}, {}});
  items->abstracts = lists({{4, 4, 7}, {}, {}, {8}, {2, 9}, {}});
  items->categories = {1, 2, 1, 2, 0, 0};
  items->subcategories = {1, 0, 2, 3, 1, 0};
  items->category_count = 3, items->subcategory_count = 4;
  items->title_entities = lists({{0}, {}, {}, {1, 0}, {1}, {}});
  constexpr auto none = LinkedText::none;
  items->linked_titles = {{2, 3, 4, 5, 2, 6, 7, 8, 9, none, 3, 4},
                          {none, 0, 0, none, none, 1, none, none, none, 0, none, 1},
                          {0, 3, 5, 5, 10, 12, 12}};
  items->entity_count = 2;
  items->entity_vectors = torch::tensor({{0.5F, -1.0F, 0.25F}, {-0.75F, 0.5F, 1.0F}});
  return items;
}

inline NewsShape narrow_shape() {
  NewsShape shape;
  shape.word_size = 4, shape.heads = 2, shape.head_size = 3, shape.filters = 6, shape.pooling_size = 5,
  shape.recent_clicks = 2, shape.category_size = 3, shape.entity_size = 3, shape.user_size = 3;
  shape.dropout = 0;
  shape.train_words = true;
  return shape;
}

// A BERT that reads the words of small_items().
inline std::shared_ptr<BertModel> small_bert() {
  BertConfig config;
  config.vocabulary = 10, config.hidden = 4, config.layers = 2, config.heads = 2, config.intermediate = 6,
  config.positions = 4;
  auto bert = std::make_shared<BertModel>(config);
  bert->random_start();
  return bert;
}

// Users 1 and 4 are known.
inline ModelInputs small_inputs(const NewsShape& shape = narrow_shape()) {
  return {shape, torch::randn({10, shape.word_size}), small_items(), KnownUsers{{1, 4}}};
}

// The same weights for the same model every time; biases are not zero, so that nothing stands on the kink of
// a ReLU.
inline std::shared_ptr<RankingModel> small_model(std::string_view name,
                                                 torch::ScalarType type = torch::kFloat32,
                                                 const NewsShape& shape = narrow_shape()) {
  torch::manual_seed(11);
  ModelInputs inputs = small_inputs(shape);
  if (find_model(name).value()->reads_setting("bert")) inputs.bert = small_bert();
  auto model = find_model(name).value()->make(inputs);
  torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.1);
  model->to(type);
  return model;
}

// Pairs of all kinds: several histories (one empty, one by an unknown user), items without words.
struct SmallRequest {
  SmallRequest() {
    histories.add(std::vector<std::int64_t>{0, 3, 1}, 1);
    histories.add(std::vector<std::int64_t>{}, 4);
    histories.add(std::vector<std::int64_t>{4}, 77);
    histories.add(std::vector<std::int64_t>{5, 2}, unknown_user);
    for (std::int64_t history = 0; history < 4; ++history)
      for (const std::int64_t item : {5, 0, 2, 3}) {
        pair_history.push_back(history);
        pair_item.push_back(item);
      }
  }
  ScoreRequest request() const { return {items, histories, pair_history, pair_item}; }
  std::vector<data::ItemId> items = {0, 1, 2, 3, 4, 5};
  Histories histories;
  std::vector<std::int64_t> pair_history, pair_item;
};

}  // namespace sotto::model::testing
