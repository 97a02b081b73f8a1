#pragma once
// PrivRec's metric: each held-out positive of a test user is ranked among all items of the catalogue that the
// user never touched; Hits@k and nDCG@k, ties averaged, averaged over a user's rows and then over users.

#include "recipes/recipe.h"

namespace sotto::eval {

// Measures a ranking, and beside it what needs no model: popularity among training users, and a user's own
// items first, then popularity. Behind a bar called "testing"; after an interrupt the numbers mean nothing.
metrics::HeldOutReport evaluate_interactions(const data::Dataset& dataset, const fl::InteractionData& data,
                                             const recipes::ScoreTestUsers& score);

}  // namespace sotto::eval
