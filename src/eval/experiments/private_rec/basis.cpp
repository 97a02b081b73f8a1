#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

Result<Grid> privaterec_basis(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Figure 7: number of basis vectors";
  grid.about =
      "Training as printed at ε_t = 10 and without noise, served without noise. The paper finds B = 3 best, "
      "and B = 5 without noise as good as FedRec. Its figure has no printed values.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC by number of basis vectors", "auc", "basis vectors B", "AUC, %", 100, true}};
  for (const double epsilon : {10.0, double{INFINITY}}) {
    for (const int basis : context.pick<std::vector<int>>({2, 3, 5, 10, 20, 50}, {2, 3, 5, 20})) {
      SOTTO_TRY(auto row,
                private_rec_row(context, {basis, 0.2, epsilon, INFINITY}, fmt::format("B = {}", basis)));
      row.group = row.series = fmt::format("ε_t = {}", epsilon_name(epsilon));
      row.x = basis;
      grid.rows.push_back(std::move(row));
    }
  }
  grid.rows.push_back({"FedRec", "fedrec", federated_settings(context) + Settings{"model=nrms"}, "no basis"});
  return grid;
}

}  // namespace sotto
