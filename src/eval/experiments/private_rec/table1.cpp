#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

namespace {

struct Numbers {
  std::vector<PaperNumber> central, federated, dp_fedrec, private_rec;
};

}  // namespace

Result<Grid> privaterec_table1(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Table 1: private training";
  grid.about =
      "Three backbones, served without noise. In the paper's mode no ε holds for training: gradients below "
      "the noise are computed from raw histories. The sound row trains under user-level noise. θ = 1, k = 4 "
      "and the learning rates are ours, the paper's are in an appendix that was not published. BERT has "
      "random weights unless --set bert=FOLDER is given.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "NAML, NRMS, PLM-NR", "auc", "", "AUC, %"}};
  const Numbers printed[] = {
      {paper_news(65.35, 31.36, 33.82, 39.55), paper_news(63.04, 29.93, 32.08, 37.75),
       paper_news(55.31, 24.88, 25.91, 31.52), paper_news(57.51, 26.27, 27.76, 33.34)},
      {paper_news(65.82, 31.68, 34.29, 39.99), paper_news(62.80, 29.59, 31.66, 37.32),
       paper_news(54.59, 24.75, 25.64, 31.28), paper_news(58.32, 26.56, 27.93, 33.67)},
      {paper_news(67.08, 32.49, 35.21, 40.94), paper_news(66.05, 31.72, 34.28, 40.05),
       paper_news(54.87, 24.45, 25.51, 31.18), paper_news(58.75, 26.70, 28.22, 33.90)},
  };
  std::size_t place = 0;
  for (const Backbone& backbone : backbones(context)) {
    const Numbers& paper = printed[place++];
    const bool bert = backbone.name == "PLM-NR";
    grid.rows.push_back({"Centralized", backbone.recipe,
                         central_settings(context) + (bert ? bert_settings(context) : Settings{}),
                         backbone.name, paper.central});
    grid.rows.push_back({"FedRec, ε_t = ∞", "fedrec", federated_settings(context) + backbone.settings,
                         backbone.name, paper.federated});
    SOTTO_TRY(auto baseline, dp_fedrec_row(context, 10, INFINITY));
    baseline.group = backbone.name;
    baseline.settings = baseline.settings + backbone.settings;
    baseline.paper = paper.dp_fedrec;
    grid.rows.push_back(std::move(baseline));
    SOTTO_TRY(auto private_rec, private_rec_row(context, {.training_epsilon = 10}, "PrivateRec, ε_t = 10"));
    private_rec.group = backbone.name;
    private_rec.settings = private_rec.settings + backbone.settings;
    private_rec.paper = paper.private_rec;
    grid.rows.push_back(std::move(private_rec));
    grid.rows.push_back({"PrivateRec, sound, ε = 10", "privaterec",
                         sound_settings(context, 10) + Settings{cohort_of(context, 0.1)} + backbone.settings,
                         backbone.name});
  }
  for (GridRow& row : sotto_rows(10)) grid.rows.push_back(std::move(row));
  return grid;
}

}  // namespace sotto
