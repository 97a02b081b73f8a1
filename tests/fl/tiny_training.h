#pragma once
// A fresh small model and its training on the tiny data set.

#include "fl/plain_means.h"
#include "fl/tiny_news.h"
#include "model/bert/bert_model.h"
#include "model/news/model_registry.h"

namespace sotto::fl::testing {

inline std::shared_ptr<model::ItemFeatures> tiny_items() {
  auto items = std::make_shared<model::ItemFeatures>();
  model::ItemText& text = items->titles;
  text.offsets = {0};
  for (std::int32_t i = 0; i < 10; ++i) {
    for (const std::int32_t token : {2 + 2 * (i % 2), 3 + 2 * (i % 2), 6 + i}) text.tokens.push_back(token);
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
    items->categories.push_back(i % 3);  // some unknown
    items->subcategories.push_back((i + 1) % 3);
  }
  items->category_count = items->subcategory_count = 3;
  items->abstracts = items->titles;
  return items;
}

// Reads the words of tiny_items(); all of it learns. Larger weights than BERT starts with: gradients must not
// vanish in rounding.
inline std::shared_ptr<model::BertModel> random_bert() {
  model::BertConfig config;
  config.vocabulary = 16, config.hidden = 6, config.layers = 2, config.heads = 2, config.intermediate = 10,
  config.positions = 3;
  auto bert = std::make_shared<model::BertModel>(config);
  bert->random_start();
  torch::NoGradGuard no_grad;
  for (auto& parameter : bert->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
  return bert;
}

// A fresh model and its training on the tiny data set.
struct Tiny {
  explicit Tiny(double dropout = 0, std::uint64_t seed = 5, const char* name = "fednewsrec")
      : dataset(tiny_news(folder)) {
    settings.negatives = 2;
    settings.validation_impressions = 0;
    data = prepare_training_data(dataset, settings, seed).value();
    torch::manual_seed(seed);
    model::NewsShape shape;
    shape.word_size = 6, shape.heads = 2, shape.head_size = 4, shape.pooling_size = 5,
    shape.dropout = shape.word_mask = dropout, shape.train_words = true, shape.filters = 8,
    shape.category_size = 4;
    shape.recent_clicks = 2;
    model::ModelInputs inputs{shape, torch::randn({16, 6}) * 0.3, tiny_items(), {}};
    const model::ModelEntry& entry = *model::find_model(name).value();
    if (entry.reads_setting("bert")) inputs.bert = random_bert();
    model = entry.make(inputs);
    parameters = std::make_unique<model::FlatParameters>(*model);
    training = std::make_unique<NewsTraining>(dataset, data, settings, *model, *parameters, seed);
  }
  PlainMeans source(FederatedSettings federated) const {
    return {CohortSampler::create(data.users, federated.cohort, 5).value(),
            news_mean(federated, make_transforms(federated), *training)};
  }
  TempFolder folder;
  data::Dataset dataset;
  TrainingDataSettings settings;
  TrainingData data;
  std::shared_ptr<model::RankingModel> model;
  std::unique_ptr<model::FlatParameters> parameters;
  std::unique_ptr<NewsTraining> training;
};

inline double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

}  // namespace sotto::fl::testing
