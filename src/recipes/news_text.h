#pragma once
// What a news model reads of the items, and what reads it: words with their vectors, or word pieces with a
// language model. A finished or resumed run reads exactly as it did when it trained.

#include "recipes/news_run.h"
#include "recipes/trained_news.h"

namespace sotto::recipes {

struct NewsText {
  torch::Tensor words;  // [vocabulary, word size]; undefined for models without word vectors
  std::shared_ptr<model::BertModel> bert;  // null for models without a language model
  std::shared_ptr<model::ItemFeatures> items;
  ReadItems read;  // how `items` came about
};

// Builds and stores the vocabulary, or loads the one of the run. Random vectors and weights come from torch's
// default generator.
Result<NewsText> read_news_text(const NewsSettings& settings, const RunRequest& request,
                                const model::ModelEntry& entry);

// Rows that a model learns for categories, entities and users are numbered by the data it trains on. Writes a
// fingerprint of that numbering, RUN/codes.txt, or compares with the one there, so that other data cannot be
// read with the wrong rows. Models that read words, or entities with the data's own vectors, have none.
Status check_learned_codes(const fs::path& run, const data::Dataset& dataset, const model::ModelEntry& entry,
                           const model::KnownUsers& known);

}  // namespace sotto::recipes
