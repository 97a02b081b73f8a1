#pragma once
// What a server makes of a trained model before anybody asks: the vectors that all readers share and the
// codebook of its packs. `sotto serve` publishes these and evaluation measures with them, so that a measured
// number is one of what is served.

#include "data/dataset.h"
#include "model/news/news_recommender.h"
#include "publish/codebook.h"

namespace sotto::publish {

// The model that all readers share, without what a recipe puts around it. Null: not made of two towers.
model::NewsRecommender* shared_towers(model::RankingModel& model);

struct ServedCodebookSettings {
  std::size_t prototypes = 0, basis = 0;
  std::size_t max_history = 0;
  double demand_epsilon = 0;  // of the release of demand that simulated readers follow; 0: none
};

// items: of the whole catalogue, as `towers` makes them.
Result<Codebook> served_codebook(model::NewsRecommender& towers, const Rows& items,
                                 const data::Dataset& dataset, const ServedCodebookSettings& settings);

}  // namespace sotto::publish
