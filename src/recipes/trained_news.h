#pragma once
// A trained news model as it is handed on: with all that is needed to read articles it has never seen.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/news/news_shape.h"
#include "model/news/ranking_model.h"

namespace sotto::recipes {

// What a model reads of the items of a catalogue, in the words (or word pieces) of its run.
using ReadItems = std::function<model::ItemFeatures(const data::Catalogue& catalogue)>;

struct TrainedNews {
  std::shared_ptr<model::RankingModel> model;  // with the best parameters of the run
  std::string model_name;                      // of the registry
  model::NewsShape shape;
  std::size_t max_history = 0;  // newest clicks that the user side reads
  std::shared_ptr<model::ItemFeatures>
      items;  // what `model` reads; at first the items of the data it was opened with
  ReadItems read;
  std::vector<std::string> category_names, subcategory_names;  // by code; 0 is the unknown one
};

}  // namespace sotto::recipes
