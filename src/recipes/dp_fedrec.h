#pragma once
// DP-FedRec, what PrivateRec is compared with: noisy gradients, and noisy user vectors as queries (VDP).

#include "recipes/recipe.h"

namespace sotto {

std::unique_ptr<Recipe> make_dp_fedrec();

}  // namespace sotto
