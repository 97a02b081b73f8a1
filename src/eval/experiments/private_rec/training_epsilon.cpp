#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

Result<Grid> privaterec_training_epsilon(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Figure 6: AUC by the ε of training";
  grid.about =
      "PrivateRec as printed, where no ε holds, and in sound mode, where ε is the budget of one user for "
      "the whole training; both served without noise. ∞ stands at 100 on the axis. The paper has AUC 61.35 "
      "at ε_t = 5 on its own NewsFeeds data.";
  grid.paper_data = "NewsFeeds";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC by the ε of training", "auc", "ε_t, or ε of the whole training (∞ at 100)",
                 "AUC, %", 100, true}};
  for (const double epsilon : {1.0, 5.0, 10.0, 20.0, double{INFINITY}}) {
    SOTTO_TRY(auto row, private_rec_row(context, {5, 0.5, epsilon, INFINITY},
                                        fmt::format("as printed, ε_t = {}", epsilon_name(epsilon))));
    row.series = "PrivateRec as printed";
    row.x = axis_epsilon(epsilon);
    if (epsilon == 5) row.paper = {{"auc", 0.6135}};
    grid.rows.push_back(std::move(row));
    if (!std::isfinite(epsilon)) continue;
    SOTTO_TRY(auto baseline, dp_fedrec_row(context, epsilon, INFINITY));
    baseline.series = "DP-FedRec as printed";
    baseline.x = epsilon;
    grid.rows.push_back(std::move(baseline));
    grid.rows.push_back(
        {fmt::format("sound, ε = {:g}", epsilon),
         "privaterec",
         sound_settings(context, epsilon) + Settings{cohort_of(context, 0.1), "basis_vectors=5", "padding=0"},
         "",
         {},
         "PrivateRec, sound",
         epsilon});
  }
  grid.rows.push_back({"FedRec, no noise",
                       "fedrec",
                       federated_settings(context) + Settings{"model=nrms"},
                       "",
                       {},
                       "FedRec, no noise",
                       axis_epsilon(INFINITY)});
  return grid;
}

}  // namespace sotto
