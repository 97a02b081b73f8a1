#pragma once
// What a server makes of a trained model before anybody asks: the vectors that all readers share and the
// codebook of its packs. `sotto serve` publishes these and evaluation measures with them, so that a measured
// number is one of what is served.

#include "model/news/news_recommender.h"
#include "publish/codebook.h"
#include "publish/simulated_readers.h"

namespace sotto::publish {

// The model that all readers share, without what a recipe puts around it. Null: not made of two towers.
model::NewsRecommender* shared_towers(model::RankingModel& model);

struct ServedCodebookSettings {
  std::size_t prototypes = 0, basis = 0;
  std::size_t max_history = 0;
};

inline constexpr std::uint64_t codebook_seed = 1;  // of what is public: groups, readers who do not exist

// The same of readers' vectors that are there already.
Result<Codebook> codebook_of_readers(const Rows& items, const Rows& readers, std::size_t prototypes,
                                     std::size_t basis);

// items: of the whole catalogue, as `towers` makes them. demand: what simulated readers ask for.
Result<Codebook> served_codebook(model::NewsRecommender& towers, const Rows& items, const Demand& demand,
                                 const ServedCodebookSettings& settings);

}  // namespace sotto::publish
