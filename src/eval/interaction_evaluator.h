#pragma once
// PrivRec's metric: each held-out positive of a test user is ranked among all items of the catalogue that the
// user never touched; Hits@k and nDCG@k, ties averaged, averaged over a user's rows and then over users.

#include "recipes/recipe.h"

namespace sotto {

// Measures a ranking, and beside it what needs no model: popularity among training users, and a user's own
// items first, then popularity.
HeldOutReport evaluate_interactions(const Dataset& dataset, const InteractionData& data,
                                    const ScoreTestUsers& score);

}  // namespace sotto
