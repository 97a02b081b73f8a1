#include "eval/experiments/efficient/efficient_rows.h"
#include "eval/experiments/efficient/experiments.h"

namespace sotto {

Result<Grid> efficient_users(const GridContext& context) {
  Grid grid;
  grid.title = "Efficient-FedRec, Figure 5: AUC by number of training users";
  grid.about =
      "Different numbers of users train, all are tested; NRMS as news model. The paper's figure has no "
      "printed values: more users are better.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC by number of training users", "auc", "training users", "AUC, %", 100, true}};
  for (const std::int64_t users : user_numbers(context))
    grid.rows.push_back({fmt::format("{} users", users),
                         "efficient-fedrec",
                         efficient_settings(context, true) + Settings{user_share(context, users)},
                         "",
                         {},
                         "Efficient-FedRec",
                         static_cast<double>(users)});
  return grid;
}

}  // namespace sotto
