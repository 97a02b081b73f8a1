#include "eval/experiments/efficient/bert_cost.h"
#include "eval/experiments/efficient/efficient_rows.h"
#include "eval/experiments/efficient/experiments.h"

namespace sotto {

namespace {

// Table 3 of the paper: AUC, floats and client seconds of FedRec, server seconds of Efficient-FedRec.
struct Printed {
  double auc, floats, client_seconds;
};
constexpr Printed table3[] = {{64.21, 10.01, 0.69},  {65.55, 23.74, 2.44},   {65.92, 59.32, 9.03},
                              {67.05, 84.54, 19.55}, {67.44, 221.29, 51.92}, {67.50, 673.28, 117.04}};
static_assert(std::size(table3) == std::size(bert_sizes));

// At MIND's shape: a union of 1,320 items of 400 numbers, a client's own 114 titles.
constexpr std::int64_t union_items = 1320, vector_size = 400, own_titles = 114, timed_titles = 8, pieces = 30;

Result<GridExtra> cost_table(bool quick) {
  GridExtra extra;
  extra.note =
      "Floats per client and round in both directions, at MIND's shape (a union of 1,320 items of 400 "
      "numbers, BERT's own vocabulary). FedRec's client seconds: one pass forward and back through BERT "
      "over its 114 titles of 30 pieces, timed on 8 of them on this machine and scaled.";
  ReportTable table;
  for (const char* heading : {"size", "numbers in BERT", "FedRec, million floats", "paper",
                              "Efficient-FedRec, million floats", "paper", "FedRec, client seconds", "paper"})
    table.columns.push_back({heading, Better::neither});
  Plot plot;
  plot.title = "Floats per client and round";
  plot.y_label = "million floats, both ways";
  plot.log_y = true;
  plot.series = {{"FedRec", SeriesStyle::line_and_points, {}, {}, {}},
                 {"Efficient-FedRec", SeriesStyle::line_and_points, {}, {}, {}}};
  const std::size_t timed = quick ? 3 : std::size(bert_sizes);
  for (std::size_t i = 0; i < std::size(bert_sizes); ++i) {
    SOTTO_TRY(const auto config, bert_of_size(bert_sizes[i]));
    const auto parameters = static_cast<double>(bert_parameters(config) + user_model_parameters());
    const double whole = 2e-6 * parameters,
                 split = 2e-6 * static_cast<double>(union_items * vector_size + user_model_parameters());
    TableCell seconds = TableCell::words("not timed");
    if (i < timed)
      seconds = TableCell::number(
          bert_pass_seconds(config, timed_titles, pieces) * static_cast<double>(own_titles) / timed_titles,
          2);
    table.rows.push_back({TableCell::words(std::string(bert_sizes[i])),
                          TableCell::number(static_cast<double>(bert_parameters(config)), 0),
                          TableCell::number(whole, 2), TableCell::number(table3[i].floats, 2),
                          TableCell::number(split, 2), TableCell::number(2.18, 2), seconds,
                          TableCell::number(table3[i].client_seconds, 2)});
    plot.categories.emplace_back(bert_sizes[i]);
    for (PlotSeries& series : plot.series) series.x.push_back(static_cast<double>(i));
    plot.series[0].y.push_back(whole);
    plot.series[1].y.push_back(split);
  }
  extra.tables.push_back({"cost", std::move(table)});
  extra.plots.emplace_back("cost", std::move(plot));
  return extra;
}

}  // namespace

Result<Grid> efficient_bert_sizes(const GridContext& context) {
  Grid grid;
  grid.title = "Efficient-FedRec, Table 3: sizes of BERT";
  grid.about =
      "Costs for all sizes; AUC only for sizes whose weights are given: --set checkpoints=FOLDER, with a "
      "folder per size (tiny, mini, small, medium, base, large) as downloaded. Without weights the smallest "
      "size is trained from random ones, which says nothing about the paper's column.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC by size", "auc", "", "AUC, %"}};
  grid.options = {"checkpoints"};
  const fs::path checkpoints = context.option("checkpoints");
  const Settings rounds = efficient_settings(context, false) + efficient_bert_settings(context);
  for (std::size_t i = 0; i < std::size(bert_sizes) && !checkpoints.empty(); ++i) {
    const fs::path folder = checkpoints / bert_sizes[i];
    if (fs::exists(folder / "config.json"))
      grid.rows.push_back({std::string(bert_sizes[i]),
                           "efficient-fedrec",
                           rounds + Settings{"bert=" + folder.string(), "news_learning_rate=0.00005"},
                           "",
                           {{"auc", table3[i].auc / 100}}});
  }
  if (!checkpoints.empty() && grid.rows.empty())
    return bad_input("{} has no folder tiny, mini, small, medium, base or large with a config.json",
                     checkpoints.string());
  if (grid.rows.empty()) grid.rows.push_back({"tiny, random weights", "efficient-fedrec", rounds});
  grid.extra = [quick = context.quick](const Dataset&) { return cost_table(quick); };
  return grid;
}

}  // namespace sotto
