#include "eval/experiments/privrec/experiments.h"
#include "eval/experiments/privrec/shared_settings.h"

namespace sotto {

Result<Grid> privrec_gamma_clip(const GridContext& context) {
  Grid grid;
  grid.title = "DP-PrivRec: clipping quantile γ and first bound S";
  grid.about =
      "The printed mechanism for several γ (share of users left whole) and first clipping bounds S. The "
      "paper's figure has no printed values. Nothing holds against the server in this mode: it adds the "
      "noise itself.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.plots = {{"hits10", "Hits@10 by S and γ", "hits10", "first clipping bound S", "Hits@10", 1}};
  for (const double gamma : context.pick<std::vector<double>>({.1, .4, .7, .9}, {.1, .9})) {
    for (const int bound : context.pick<std::vector<int>>({20, 25, 30, 35, 40, 45}, {20, 45}))
      grid.rows.push_back(
          {fmt::format("S = {}", bound),
           "dp-privrec",
           {"mode=paper", "cohort=30", "learning_rate=1", fmt::format("printed_bound={}", bound),
            fmt::format("printed_quantile={:g}", gamma), fmt::format("rounds={}", context.pick(1000, 30))},
           fmt::format("γ = {:g}", gamma),
           {},
           fmt::format("γ = {:g}", gamma),
           static_cast<double>(bound)});
  }
  return grid;
}

}  // namespace sotto
