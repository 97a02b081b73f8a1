#include "eval/experiments/fednewsrec/experiments.h"
#include "eval/experiments/fednewsrec/printed_settings.h"

namespace sotto {

Result<Grid> fednewsrec_users(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 4: AUC by number of training users";
  grid.about =
      "Different numbers of users train, all are tested. The paper's figure has no printed values: AUC "
      "rises quickly up to some ten thousand users and slowly after.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC by number of training users", "auc", "training users", "AUC, %", 100, true}};
  for (const std::int64_t users : user_numbers(context)) {
    const std::string share = user_share(context, users);
    // A cohort cannot be larger than those who train.
    const std::string cohort = fmt::format("cohort={}", context.pick<std::int64_t>(50, 40));
    grid.rows.push_back({fmt::format("{} users, as printed", users),
                         "fednewsrec",
                         printed_fednewsrec(context) + Settings{cohort, share},
                         "",
                         {},
                         "FedNewsRec as printed",
                         static_cast<double>(users)});
    grid.rows.push_back({fmt::format("{} users, no noise", users),
                         "fedrec",
                         federated_settings(context) + Settings{cohort, share, "validation_impressions=0"},
                         "",
                         {},
                         "without noise",
                         static_cast<double>(users)});
  }
  return grid;
}

}  // namespace sotto
