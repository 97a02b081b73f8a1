#include "eval/experiments/fednewsrec/experiments.h"
#include "eval/experiments/fednewsrec/printed_settings.h"

namespace sotto {

Result<Grid> fednewsrec_table2(const GridContext& context) {
  const Settings central = central_settings(context);
  Grid grid;
  grid.title = "FedNewsRec, Table 2: methods compared";
  grid.about =
      "Half of the users train, all are tested. Central models see every click of those users; FedNewsRec "
      "is trained as printed (2 % of the users per round, element-wise clipping and Laplace noise), then "
      "without noise, then with noise that gives a guarantee. FCF learns a vector per item from clicks "
      "alone: "
      "of news that nobody clicked in training it knows nothing. Word vectors start at random unless --set "
      "glove=FILE is given.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500) + Settings{"user_share=0.5"};
  grid.columns = news_columns();
  grid.plots = {{"auc", "Methods compared", "auc", "", "AUC, %"}};
  grid.rows = {
      {"FM", "central-fm", central, "", paper_news(58.41, 27.19, 28.98, 34.57)},
      {"DFM", "central-dfm", central, "", paper_news(61.25, 28.68, 30.62, 36.38)},
      {"EBNR", "central-ebnr", central, "", paper_news(63.64, 29.50, 31.57, 37.38)},
      {"DKN", "central-dkn", central, "", paper_news(62.38, 29.40, 31.59, 37.27)},
      {"DAN", "central-dan", central, "", paper_news(62.54, 29.44, 31.67, 37.31)},
      {"NAML", "central-naml", central, "", paper_news(64.52, 30.93, 33.39, 39.07)},
      {"NPA", "central-npa", central, "", paper_news(64.29, 30.63, 33.11, 38.89)},
      {"NRMS", "central-nrms", central, "", paper_news(65.72, 31.85, 34.59, 40.25)},
      {"CenNewsRec", "central-fednewsrec", central, "", paper_news(66.45, 31.91, 34.62, 40.33)},
      {"FCF", "fcf", fcf_settings(context), "", {{"auc", .5103}}},
      {"FedNewsRec, as printed", "fednewsrec", printed_fednewsrec(context), "",
       paper_news(64.65, 30.60, 33.03, 38.77)},
      {"FedNewsRec, no noise", "fedrec", federated_settings(context)},
      {"FedNewsRec, sound, ε = 8", "fednewsrec",
       sound_settings(context, 8) + Settings{cohort_of(context, 0.1), "optimiser=fedadam"}},
  };
  for (GridRow& row : sotto_rows(8)) grid.rows.push_back(std::move(row));
  return grid;
}

}  // namespace sotto
