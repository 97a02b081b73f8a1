// The tables and figures of Efficient-FedRec (Yi et al. 2021).

#include "base/interrupt.h"
#include "base/progress.h"
#include "eval/experiments/efficient_costs.h"
#include "eval/experiments/news_settings.h"
#include "eval/experiments/paper_experiments.h"

namespace sotto::eval {

namespace {

// Efficient-FedRec's rounds: groups of 50, secure sums without noise. Numbers travel uncompressed, as the
// paper counts them, unless `compress`.
// The printed step, 5e-5, is for a pre-trained news model; what starts at random learns nothing by it.
Settings efficient_settings(const GridContext& context, bool compress) {
  return {"mode=paper", "group=50", fmt::format("compress={}", compress), federated_rate(context),
          "news_" + federated_rate(context)};
}

// With BERT on the server: the printed step for both models where it is pre-trained.
Settings efficient_bert_settings(const GridContext& context) {
  const Settings bert = bert_settings(context) + with_model("plm-nr");
  if (context.option("bert").empty()) return bert + Settings{"news_learning_rate=0.0003"};
  return bert + Settings{"learning_rate=0.00005", "news_learning_rate=0.00005"};
}

// Which news model the figures that the paper draws for BERT are of here.
bool trains_bert(const GridContext& context) { return context.option("model") == "plm-nr"; }
std::string with_news_model(const GridContext& context, std::string title) {
  return trains_bert(context) ? title : title + " (news model NRMS, not the paper's BERT)";
}

}  // namespace

Result<Grid> efficient_table2(const GridContext& context) {
  const Settings central = central_settings(context), federated = federated_settings(context),
                 bert = bert_settings(context);
  Grid grid;
  grid.title = "Efficient-FedRec, Table 2: methods compared";
  grid.about =
      "Efficient-FedRec keeps the news model on the server. BERT has random weights of size 'tiny' unless "
      "--set bert=FOLDER is given: without a pre-trained model the rows with BERT cannot show what the "
      "paper shows. FCF learns a vector per item from clicks alone. The nDCG@5 that the paper prints for "
      "NRMS (49.88) is a misprint and left out. Beside an import of Adressa stand the paper's columns of "
      "Adressa.";
  const bool adressa = context.data == "Adressa";
  const auto paper = [&](std::vector<PaperNumber> mind, std::vector<PaperNumber> of_adressa) {
    return adressa ? of_adressa : mind;
  };
  grid.paper_data = adressa ? "Adressa" : "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.columns.push_back({"bytes", "MB per client and round", 1e-6, 3, Better::lower});
  grid.stated = {"model", "compress"};
  grid.plots = {{"auc", "Methods compared", "auc", "", "AUC, %"}};
  const Budget budget = Budget::of(context, 8, "published");
  grid.rows = {
      {"DFM", "central", with_model("dfm") + central, "",
       paper(paper_news(60.67, 28.08, 29.93, 35.68), paper_news(59.90, 32.68, 29.69, 36.43))},
      {"DKN", "central", with_model("dkn") + central, "",
       paper(paper_news(64.72, 30.53, 33.01, 38.70), paper_news(73.73, 39.52, 40.98, 47.48))},
      {"LSTUR", "central", with_model("lstur") + central, "",
       paper(paper_news(66.90, 32.45, 35.11, 40.82), paper_news(68.37, 38.76, 38.11, 44.33))},
      {"NAML", "central", with_model("naml") + central, "",
       paper(paper_news(66.10, 31.91, 34.52, 40.21), paper_news(73.09, 44.27, 43.51, 50.02))},
      {"NRMS", "central", with_model("nrms") + central, "",
       paper({{"auc", .6667}, {"mrr", .3225}, {"ndcg10", .4074}}, paper_news(75.31, 42.24, 44.66, 48.46))},
      {"CenRec", "central", with_model("fednewsrec") + central, "",
       paper(paper_news(66.92, 32.30, 35.05, 40.78), paper_news(72.85, 40.82, 41.62, 47.54))},
      {"PLM-NR", "central", with_model("plm-nr") + central + bert + Settings{"learning_rate=0.0003"}, "",
       paper(paper_news(67.79, 33.16, 36.08, 41.81), paper_news(78.20, 47.26, 48.41, 54.60))},
      {"FCF", "fcf", fcf_settings(context), "",
       paper(paper_news(50.02, 22.37, 22.77, 29.02), paper_news(51.39, 18.98, 15.42, 22.94))},
      {"FedRec", "fedrec", federated, "",
       paper(paper_news(66.54, 31.96, 34.54, 40.30), paper_news(71.73, 41.37, 41.81, 47.18))},
      {"FedRec(BERT)", "fedrec",
       with_model("plm-nr") + federated + bert + bert_devices(context) + Settings{"learning_rate=0.0003"}, "",
       paper(paper_news(67.45, 32.80, 35.44, 41.35), paper_news(78.60, 43.81, 45.76, 52.64))},
      {"Efficient-FedRec(BERT)", "efficient-fedrec",
       efficient_settings(context, false) + efficient_bert_settings(context), "",
       paper(paper_news(67.44, 32.79, 35.62, 41.35), paper_news(79.08, 45.09, 47.13, 53.85))},
      {"Efficient-FedRec(NRMS)", "efficient-fedrec", efficient_settings(context, false)},
      {"Efficient-FedRec(NRMS), compressed", "efficient-fedrec", efficient_settings(context, true)},
      {"Efficient-FedRec(NRMS), sound, " + budget.name(), "efficient-fedrec",
       sound_settings(context, budget) +
           Settings{fmt::format("group={}", context.pick<std::uint64_t>(context.users / 10, 150))}},
  };
  for (GridRow& row : sotto_rows(context, budget)) grid.rows.push_back(std::move(row));
  return grid;
}

Result<Grid> efficient_cost(const GridContext& context) {
  Grid grid;
  grid.title = "Efficient-FedRec, Figure 3: what a client sends, receives and computes";
  grid.about =
      "Exact encoded sizes per client and round; a float is four bytes. The paper counts numbers in both "
      "directions: 2.18 million with its news model of any size, 10.01 million for FedRec with the smallest "
      "BERT. Ours also holds the sketch that finds the union, item numbers and the click count. Seconds are "
      "of one client's own work, computed alone on this machine.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 10) +
                Settings{fmt::format("rounds={}", context.pick(10, 4)), "evaluate_every=100"};
  grid.columns = {{"bytes_down", "MB down", 1e-6, 3, Better::lower},
                  {"bytes_up", "MB up", 1e-6, 3, Better::lower},
                  {"bytes", "million floats, both ways", 0.25e-6, 3, Better::lower}};
  grid.stated = {"model", "compress", "bert_size"};
  grid.plots = {{"bytes", "Per client and round", "bytes", "", "MB, both ways", 1e-6, false, true}};
  const Settings few = {fmt::format("cohort={}", context.pick(50, 20)), "validation_impressions=0"},
                 group = {fmt::format("group={}", context.pick(50, 20))};
  const Budget server = Budget::of(context, 8, "server");
  const auto floats = [](double millions) { return std::vector<PaperNumber>{{"bytes", 4e6 * millions}}; };
  grid.extra = [size = context.pick<std::int64_t>(50, 20), quick = context.quick](
                   const data::Dataset& dataset) { return own_work(dataset, size, quick); };
  grid.rows = {
      {"FedRec", "fedrec", few},
      {"FedRec(BERT tiny)", "fedrec", with_model("plm-nr") + few + Settings{"bert_size=tiny"}, "",
       floats(10.01)},
      {"Efficient-FedRec(BERT tiny)", "efficient-fedrec",
       efficient_settings(context, false) + group + Settings{"model=plm-nr", "bert_size=tiny"}, "",
       floats(2.18)},
      {"Efficient-FedRec(NRMS)", "efficient-fedrec", efficient_settings(context, false) + group},
      {"Efficient-FedRec(NRMS), compressed", "efficient-fedrec", efficient_settings(context, true) + group},
      // A group this small needs so little noise for what is published that nothing would hold against the
      // server: the budget is for its view.
      {"Efficient-FedRec(NRMS), sound, " + server.name(), "efficient-fedrec",
       sound_settings(context, server) + group},
  };
  return grid;
}

namespace {

// Table 3 of the paper: AUC; floats, client and server seconds of FedRec; server seconds of Efficient-FedRec,
// whose floats and client seconds are the same for every size.
struct Printed {
  double auc, floats, client_seconds, server_seconds, split_server_seconds;
};
constexpr Printed table3[] = {{64.21, 10.01, 0.69, 0.01, 2.05},   {65.55, 23.74, 2.44, 0.01, 3.20},
                              {65.92, 59.32, 9.03, 0.01, 5.88},   {67.05, 84.54, 19.55, 0.01, 6.39},
                              {67.44, 221.29, 51.92, 0.02, 6.74}, {67.50, 673.28, 117.04, 0.04, 8.81}};
static_assert(std::size(table3) == std::size(model::bert_sizes));
constexpr double split_floats = 2.18, split_client_seconds = 0.02;

// At MIND's shape: groups of 50 with a union of 1,320 items of 400 numbers, a client's own 114 titles.
constexpr std::int64_t group_size = 50, union_items = 1320, vector_size = 400, own_titles = 114,
                       timed_titles = 8, pieces = 30, history_clicks = 50;

Result<GridExtra> cost_table(bool quick) {
  GridExtra extra;
  extra.note =
      "Floats per client and round in both directions, at MIND's shape (a union of 1,320 items of 400 "
      "numbers, BERT's own vocabulary, pooling and projection above BERT). Seconds are of this machine. "
      "FedRec: "
      "a client passes forward and back through BERT over its 114 titles of 30 pieces, the server averages "
      "50 "
      "models. Efficient-FedRec: a client passes through the user model, once for a history of 50 clicks; "
      "the "
      "server passes through BERT over the union's titles. Passes through BERT are timed on 8 titles and "
      "scaled.";
  ReportTable table;
  for (const char* heading :
       {"size", "numbers in BERT", "FedRec, million floats", "paper", "Efficient-FedRec, million floats",
        "paper", "FedRec, client seconds", "paper", "FedRec, server seconds", "paper",
        "Efficient-FedRec, client seconds", "paper", "Efficient-FedRec, server seconds", "paper"})
    table.columns.push_back({heading, Better::neither});
  Plot plot;
  plot.title = "Floats per client and round";
  plot.y_label = "million floats, both ways";
  plot.log_y = true;
  plot.series = {{"FedRec", SeriesStyle::line_and_points, {}, {}, {}},
                 {"Efficient-FedRec", SeriesStyle::line_and_points, {}, {}, {}}};
  const std::size_t timed = quick ? 3 : std::size(model::bert_sizes);
  const double split_client = user_model_pass_seconds(history_clicks);
  Progress progress("costs", std::size(model::bert_sizes), "sizes");
  for (std::size_t i = 0; i < std::size(model::bert_sizes); ++i) {
    if (interrupted()) return failed("stopped while costs were timed");
    SOTTO_TRY(const auto config, model::bert_of_size(model::bert_sizes[i]));
    const double whole = 2e-6 * static_cast<double>(plm_nr_parameters(config)),
                 split = 2e-6 * static_cast<double>(union_items * vector_size + user_model_parameters());
    TableCell client = TableCell::words("not timed"), split_server = client;
    if (i < timed) {
      const double one_title = bert_pass_seconds(config, timed_titles, pieces) / timed_titles;
      client = TableCell::number(one_title * static_cast<double>(own_titles), 2);
      split_server = TableCell::number(one_title * static_cast<double>(union_items), 2);
    }
    table.rows.push_back({TableCell::words(std::string(model::bert_sizes[i])),
                          TableCell::number(static_cast<double>(bert_parameters(config)), 0),
                          TableCell::number(whole, 2), TableCell::number(table3[i].floats, 2),
                          TableCell::number(split, 2), TableCell::number(split_floats, 2), client,
                          TableCell::number(table3[i].client_seconds, 2),
                          TableCell::number(mean_seconds(group_size, plm_nr_parameters(config)), 3),
                          TableCell::number(table3[i].server_seconds, 2), TableCell::number(split_client, 4),
                          TableCell::number(split_client_seconds, 2), split_server,
                          TableCell::number(table3[i].split_server_seconds, 2)});
    plot.categories.emplace_back(model::bert_sizes[i]);
    progress.advance();
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
  for (std::size_t i = 0; i < std::size(model::bert_sizes) && !checkpoints.empty(); ++i) {
    const fs::path folder = checkpoints / model::bert_sizes[i];
    if (fs::exists(folder / "config.json"))
      grid.rows.push_back({std::string(model::bert_sizes[i]),
                           "efficient-fedrec",
                           rounds + Settings{"bert=" + folder.string(), "learning_rate=0.00005",
                                             "news_learning_rate=0.00005"},
                           "",
                           {{"auc", table3[i].auc / 100}}});
  }
  if (!checkpoints.empty() && grid.rows.empty())
    return bad_input("{} has no folder tiny, mini, small, medium, base or large with a config.json",
                     checkpoints.string());
  if (grid.rows.empty()) grid.rows.push_back({"tiny, random weights", "efficient-fedrec", rounds});
  grid.extra = [quick = context.quick](const data::Dataset&) { return cost_table(quick); };
  return grid;
}

Result<Grid> efficient_group_size(const GridContext& context) {
  Grid grid;
  grid.title = with_news_model(context, "Efficient-FedRec, Figure 4: size of the group");
  grid.about =
      "Rounds until the validation AUC is within 0.2 points of its best, and bytes of all clients until "
      "then. Beside the runs: how large the union of a group's items is, how much of it one user alone "
      "holds, which is what a plain sum gives away, and what a secure sum of the group's numbers costs. The "
      "paper has a union of 1,115 items at 40 users and 1,320 at 50, 114 items per user, and 0.71 s of "
      "secure aggregation per user at 50. --set model=plm-nr trains the paper's news model.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500) +
                Settings{fmt::format("evaluate_every={}", context.pick(25, 5)),
                         fmt::format("validation_impressions={}", context.pick(1000, 300))};
  grid.stated = {"group"};
  grid.columns = {{"auc", "AUC %"},
                  {"converged_round", "rounds to converge", 1, 0, Better::lower},
                  {"bytes", "MB per client and round", 1e-6, 3, Better::lower},
                  {"bytes_to_converge", "MB in all to converge", 1e-6, 1, Better::lower}};
  grid.plots = {{"rounds", "Rounds to converge", "converged_round", "users in a group", "rounds", 1},
                {"bytes", "Bytes of all clients until convergence", "bytes_to_converge", "users in a group",
                 "MB", 1e-6}};
  const auto sizes = context.pick<std::vector<std::int64_t>>({10, 20, 30, 40, 50, 60}, {10, 20, 50});
  for (const std::int64_t size : sizes)
    grid.rows.push_back({fmt::format("{} users", size),
                         "efficient-fedrec",
                         efficient_settings(context, false) + Settings{fmt::format("group={}", size)},
                         "",
                         {},
                         "Efficient-FedRec",
                         static_cast<double>(size)});
  constexpr std::size_t mind_numbers = 1320 * 400 + 560400;
  grid.extra = [sizes, numbers = context.pick<std::size_t>(mind_numbers, 1 << 16)](
                   const data::Dataset& dataset) { return group_costs(dataset, sizes, numbers); };
  return grid;
}

Result<Grid> efficient_users(const GridContext& context) {
  Grid grid;
  grid.title = with_news_model(context, "Efficient-FedRec, Figure 5: AUC by number of training users");
  grid.about =
      "Different numbers of users train, all are tested. --set model=plm-nr trains the paper's news model "
      "(with bert=FOLDER, from a checkpoint). The paper's figure has no printed values: more users are "
      "better.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"user_share"};
  grid.plots = {{"auc", "AUC by number of training users", "auc", "training users", "AUC, %", 100, true}};
  for (const std::int64_t users : user_numbers(context))
    grid.rows.push_back({fmt::format("{} users", users),
                         "efficient-fedrec",
                         efficient_settings(context, false) + Settings{user_share(context, users)},
                         "",
                         {},
                         "Efficient-FedRec",
                         static_cast<double>(users)});
  return grid;
}

}  // namespace sotto::eval
