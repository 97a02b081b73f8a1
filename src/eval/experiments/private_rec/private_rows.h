#pragma once
// Rows of PrivateRec and of what it is compared with.

#include "eval/experiments/news_settings.h"

namespace sotto {

struct PrivateRecPoint {
  int basis = 3;         // B
  double padding = 0.2;  // p
  double training_epsilon = INFINITY, serving_epsilon = INFINITY;
};

// PrivateRec's training as printed at this point, θ = 1; serving noise comes with the test. Rows that differ
// in the serving ε share a run.
Result<GridRow> private_rec_row(const GridContext& context, const PrivateRecPoint& point, std::string label);

// DP-FedRec as printed: Laplace noise on gradients clipped to an L2 norm, and on the user vector of a query
// (VDP). What one query gives away is stated for the experiment's own size of a user vector.
Result<GridRow> dp_fedrec_row(const GridContext& context, double training_epsilon, double serving_epsilon);

// The backbones of the tables, with the settings that choose them.
struct Backbone {
  std::string name, recipe;  // recipe: of its central twin
  Settings settings;
};
std::vector<Backbone> backbones(const GridContext& context);

}  // namespace sotto
