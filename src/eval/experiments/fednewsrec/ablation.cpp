#include "eval/experiments/fednewsrec/experiments.h"
#include "eval/experiments/fednewsrec/printed_settings.h"

namespace sotto {

Result<Grid> fednewsrec_ablation(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 7: long- and short-term interests";
  grid.about =
      "The user model with both parts, with self-attention over all clicks alone (long-term), and with the "
      "GRU over the latest clicks alone (short-term). The paper's figure has no printed values: both parts "
      "together are best.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500) + Settings{"user_share=0.5"};
  grid.columns = news_columns();
  grid.plots = {{"auc", "Parts of the user model", "auc", "", "AUC, %"}};
  for (const auto& [parts, label] :
       {std::pair{"both", "both"}, {"long", "long-term alone"}, {"short", "short-term alone"}}) {
    const Settings interests = {fmt::format("interests={}", parts)};
    grid.rows.push_back({label, "fednewsrec", printed_fednewsrec(context) + interests, "as printed"});
    grid.rows.push_back({label, "fedrec", federated_settings(context) + interests, "no noise"});
    grid.rows.push_back({label, "central-fednewsrec", central_settings(context) + interests, "central"});
  }
  return grid;
}

}  // namespace sotto
