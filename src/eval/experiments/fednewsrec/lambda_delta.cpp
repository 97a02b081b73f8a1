#include "eval/experiments/fednewsrec/experiments.h"
#include "eval/experiments/fednewsrec/printed_settings.h"

namespace sotto {

Result<Grid> fednewsrec_lambda_delta(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 5: noise scale λ and clipping bound δ";
  grid.about =
      "AUC and ε over a grid of λ and δ. The paper's ε = 2δ/λ holds for one coordinate of one upload; the "
      "true ε is what one upload of all coordinates gives away. The paper's figure has no printed values.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500) + Settings{"user_share=0.5"};
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC", "auc", "λ", "AUC, %"},
                {"epsilon-claimed", "ε as the paper claims it", "epsilon_claimed", "λ", "claimed ε", 1},
                {"epsilon-true", "ε of one upload", "epsilon", "λ", "true ε", 1, false, true}};
  const auto lambdas =
      context.pick<std::vector<double>>({0.005, 0.01, 0.015, 0.02, 0.03}, {0.005, 0.015, 0.03});
  const auto deltas =
      context.pick<std::vector<double>>({0.001, 0.0025, 0.005, 0.0075, 0.01}, {0.001, 0.005, 0.01});
  for (const double delta : deltas) {
    for (const double lambda : lambdas) {
      const Settings noise = {fmt::format("element_clip={:g}", delta), fmt::format("laplace={:g}", lambda)};
      grid.rows.push_back({fmt::format("λ = {:g}", lambda),
                           "fednewsrec",
                           printed_fednewsrec(context) + noise,
                           fmt::format("δ = {:g}", delta),
                           {},
                           fmt::format("δ = {:g}", delta),
                           lambda});
    }
  }
  return grid;
}

}  // namespace sotto
