#include "eval/experiments/fednewsrec/experiments.h"
#include "eval/experiments/fednewsrec/printed_settings.h"

namespace sotto {

Result<Grid> fednewsrec_convergence(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 6: convergence for several shares r of users per round";
  grid.about =
      "Validation AUC and loss round by round. Impressions that validate are held out of training; the model "
      "that is tested is the best of the rounds looked at. The paper finds about 1,500 rounds for every r.";
  grid.paper_data = "MSN-News";
  const std::string validation = fmt::format("validation_impressions={}", context.pick(1000, 300));
  grid.shared = news_settings(context, 2000) +
                Settings{fmt::format("evaluate_every={}", context.pick(25, 5)), validation};
  grid.columns = news_columns();
  grid.columns.push_back({"converged_round", "rounds to converge", 1, 0, Better::lower});
  grid.plots = {
      {"convergence", "AUC by round", "auc", "round", "validation AUC, %", 100, false, false,
       PlotSource::rounds},
      {"loss", "Loss by round", "loss", "round", "training loss", 1, false, false, PlotSource::rounds}};
  for (const double share :
       context.pick<std::vector<double>>({0.005, 0.01, 0.02, 0.05}, {0.03, 0.06, 0.12})) {
    grid.rows.push_back({fmt::format("r = {:g} %, as printed", 100 * share), "fednewsrec",
                         printed_fednewsrec(context) + Settings{cohort_of(context, share)}});
    grid.rows.push_back({fmt::format("r = {:g} %, no noise", 100 * share), "fedrec",
                         federated_settings(context) + Settings{cohort_of(context, share), validation}});
  }
  return grid;
}

}  // namespace sotto
