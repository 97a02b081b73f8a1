#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

Result<Grid> privaterec_table2(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Table 2: private serving";
  grid.about =
      "Three backbones trained at ε_t and asked with ε_s = 10 per query. The paper's sensitivity is too "
      "small: what a query really gives away about the whole history stands beside its claim. "
      "'serving-epsilon' compares more mechanisms at equal, true ε.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "NAML, NRMS, PLM-NR", "auc", "", "AUC, %"}};
  const std::vector<PaperNumber> printed[] = {paper_news(57.52, 26.39, 27.88, 33.45),
                                              paper_news(57.00, 26.15, 27.49, 32.74),
                                              paper_news(58.69, 26.37, 27.75, 33.57)};
  const std::vector<PaperNumber> dp_fedrec[] = {paper_news(50.11, 22.69, 23.31, 28.83),
                                                paper_news(50.19, 22.71, 23.34, 28.87),
                                                paper_news(50.03, 22.17, 22.70, 28.26)};
  std::size_t place = 0;
  for (const Backbone& backbone : backbones(context)) {
    for (const double serving : {10.0, double{INFINITY}}) {
      SOTTO_TRY(auto row,
                private_rec_row(context, {.training_epsilon = 10, .serving_epsilon = serving},
                                fmt::format("PrivateRec, ε_t = 10, ε_s = {}", epsilon_name(serving))));
      row.group = backbone.name;
      row.settings = row.settings + backbone.settings;
      if (std::isfinite(serving)) row.paper = printed[place];
      grid.rows.push_back(std::move(row));
    }
    SOTTO_TRY(auto baseline, dp_fedrec_row(context, 10, 10));
    baseline.group = backbone.name;
    baseline.settings = baseline.settings + backbone.settings;
    baseline.paper = dp_fedrec[place];
    grid.rows.push_back(std::move(baseline));
    ++place;
  }
  return grid;
}

}  // namespace sotto
