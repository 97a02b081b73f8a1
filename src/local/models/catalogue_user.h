#pragma once
// The flagship's model (model/news/catalogue_model.cpp): item vectors are public and fixed, readers train how
// clicks become a reader.
//   u = average + n/(n + e^doubt) · e^scale ∘ Σ softmax(query·x)_i x_i     (n clicks x_i; ∘ per dimension)

#include <memory>

#include "local/ranking_model.h"

namespace sotto::local {

std::unique_ptr<RankingModel> make_catalogue_user(Index vector_size);

}  // namespace sotto::local
