#pragma once
// The flagship's model: ready item vectors, a user model of some two hundred numbers.

#include <memory>

#include "model/news_shape.h"
#include "model/ranking_model.h"

namespace sotto {

// inputs.words is the table of a WordSpace.
std::shared_ptr<RankingModel> make_catalogue_model(const ModelInputs& inputs);

}  // namespace sotto
