// The tables and figures of PrivRec and DP-PrivRec (Wang et al. 2021): those that are trained, then the
// arithmetic.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/make_folder.h"
#include "eval/experiments/grid/grid.h"
#include "eval/experiments/grid/grid_report.h"
#include "eval/experiments/paper_experiments.h"
#include "privacy/accounting/claims.h"

namespace sotto::eval {

namespace {

// Quick: narrow models, few rounds, few test users.
std::vector<std::string> interaction_settings(const GridContext& context) {
  if (!context.quick) return {"checkpoint_every=100"};
  return {"rounds=30",  "cohort=20",   "embedding=16",     "hidden=16",           "layers=2",
          "factors=16", "negatives=4", "train_share=0.95", "checkpoint_every=30", "local_epochs=3"};
}

// Everybody is in the two sums of dp-svd, which no clock cuts short: a quick one takes no more users than
// MovieLens-1M has.
constexpr std::uint64_t most_quick_sum = 6040;

// What the paper's model reads and learns from; rounds as printed are the recipe's defaults.
std::vector<std::string> printed_privrec() { return {"inputs=paper", "labels=ratings"}; }

// DP-PrivRec with all that is printed, which are the mode's defaults. Frappe has no stars: its negatives are
// drawn.
std::vector<std::string> printed_dp_privrec(const GridContext& context) {
  std::vector<std::string> settings = {"mode=paper", "cohort=30",
                                       fmt::format("rounds={}", context.pick(1000, 30))};
  if (context.data == "Frappe") settings.emplace_back("labels=sampled");
  return settings;
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<PaperNumber> paper_hits(double at5, double at10, double at20, double at30) {
  return {{"hits5", at5}, {"hits10", at10}, {"hits20", at20}, {"hits30", at30}};
}

std::vector<PaperNumber> with_ndcg(std::vector<PaperNumber> hits, double at5, double at10, double at20,
                                   double at30) {
  hits.insert(hits.end(), {{"ndcg5", at5}, {"ndcg10", at10}, {"ndcg20", at20}, {"ndcg30", at30}});
  return hits;
}

}  // namespace

Result<Grid> privrec_movielens(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec, Table 1: systems compared on MovieLens";
  grid.about =
      "80 % of the users train; of every other user a random half of the rows is on the device and the "
      "other half is ranked among all items it never touched, ties averaged. Genres and demographics, all "
      "that the paper's model reads, cannot tell most movies apart; the row 'as printed' shows what they "
      "give, the others read item vectors and what the device remembers. The row 'federated SGD' is PrivRec "
      "without its meta-learning: one local step, Adam on the server, nothing tuned.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.stated = {"variant", "inputs", "labels"};
  grid.plots = {{"hits10", "Systems compared", "hits10", "", "Hits@10, %", 100}};
  grid.rows = {
      {"FOFL-SELF",
       "fofl-self",
       {},
       "",
       with_ndcg(paper_hits(.118, .152, .195, .241), .101, .130, .169, .207)},
      {"NN-SELF", "nn-self", {}, "", with_ndcg(paper_hits(.109, .148, .190, .235), .098, .124, .162, .201)},
      {"FCF", "fcf", {}, "", with_ndcg(paper_hits(.092, .140, .186, .228), .088, .118, .155, .195)},
      {"PrivRec", "privrec", {}, "", with_ndcg(paper_hits(.123, .160, .205, .249), .106, .137, .174, .210)},
      {"PrivRec-CEN",
       "privrec-cen",
       {},
       "",
       with_ndcg(paper_hits(.127, .163, .207, .252), .109, .138, .178, .212)},
      {"PrivRec, federated SGD", "privrec", {"variant=fedsgd"}},
  };
  if (context.data != "Frappe")  // which has no stars, the printed labels
    grid.rows.push_back({"PrivRec, as printed", "privrec", printed_privrec(), "",
                         with_ndcg(paper_hits(.123, .160, .205, .249), .106, .137, .174, .210)});
  return grid;
}

namespace {

std::vector<PaperNumber> privrec_numbers() {
  return with_ndcg(paper_hits(.541, .624, .661, .688), .483, .560, .607, .626);
}

std::vector<GridRow> frappe_systems(const std::string& group, const std::string& rows, bool paper) {
  const auto numbers = [&](std::vector<PaperNumber> known) {
    return paper ? known : std::vector<PaperNumber>{};
  };
  const std::vector<std::string> protocol = {"rows=" + rows};
  return {
      {"FOFL-SELF", "fofl-self", protocol, group,
       numbers(with_ndcg(paper_hits(.536, .618, .655, .682), .479, .554, .600, .621))},
      {"NN-SELF", "nn-self", protocol, group,
       numbers(with_ndcg(paper_hits(.531, .613, .651, .677), .472, .550, .595, .616))},
      {"FCF", "fcf", protocol, group,
       numbers(with_ndcg(paper_hits(.527, .506, .646, .671), .469, .544, .591, .612))},
      {"PrivRec", "privrec", protocol, group, numbers(privrec_numbers())},
      {"PrivRec-CEN", "privrec-cen", protocol, group,
       numbers(with_ndcg(paper_hits(.543, .628, .665, .690), .484, .563, .608, .628))},
      {"PrivRec, features alone", "privrec", joined(protocol, {"inputs=paper"}), group,
       numbers(privrec_numbers())},
      {"PrivRec, federated SGD", "privrec", joined(protocol, {"variant=fedsgd"}), group},
  };
}

}  // namespace

Result<Grid> privrec_frappe(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec, Table 2: systems compared on Frappe";
  grid.about =
      "Two protocols: every row of the log counts, so that the app of a held-out row is often one that the "
      "device knows; and each app of a user counts once. On log rows the rule 'own apps, then popularity' "
      "is already as good as the paper's row. Frappe has no stars: every row is positive. The row marked as "
      "leaking reads cnt, how often the user used that very app, as the paper does: the answer itself; "
      "'features alone' is the paper's model without it. "
      "FCF's Hits@10 is printed in the paper below its Hits@5, which cannot be.";
  grid.paper_data = "Frappe";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.stated = {"rows", "inputs", "variant"};
  grid.plots = {
      {"hits10", "Systems compared: log rows, then distinct pairs", "hits10", "", "Hits@10, %", 100}};
  grid.rows = frappe_systems("log rows", "log", true);
  if (context.data == grid.paper_data)  // no other data has cnt
    grid.rows.push_back(
        {"PrivRec, leaking", "privrec", {"rows=log", "inputs=leaking"}, "log rows", privrec_numbers()});
  for (GridRow& row : frappe_systems("distinct pairs", "distinct", false))
    grid.rows.push_back(std::move(row));
  return grid;
}

Result<Grid> privrec_sweeps(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec, Figure 2: rounds, local epochs and users per round";
  grid.about =
      "Hits@20 while one of E1 (rounds), E2 (local epochs) and M (users per round) varies and the others "
      "stay. The paper's figure has no printed values: results rise up to E1 = 40 and E2 = 100 and hardly "
      "depend on M. Local rounds as printed, the model with item vectors.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.stated = {"rounds", "local_epochs", "cohort"};
  grid.plots = {{"hits20", "E1, E2 and M", "hits20", "E1, E2 or M", "Hits@20, %", 100}};
  struct Sweep {
    const char *name, *setting;
    std::vector<int> full, quick;
  };
  const std::vector<Sweep> sweeps = {
      {"E1", "rounds", {5, 20, 40, 60, 80, 100}, {5, 15, 40}},
      {"E2", "local_epochs", {5, 20, 40, 60, 80, 100, 120}, {1, 3, 9}},
      {"M", "cohort", {2, 5, 10, 15, 20, 25, 30, 35, 40}, {2, 10, 40}},
  };
  const std::vector<std::string> others = {fmt::format("rounds={}", context.pick(60, 15)),
                                           fmt::format("local_epochs={}", context.pick(20, 2)),
                                           fmt::format("cohort={}", context.pick(30, 10))};
  for (const Sweep& sweep : sweeps) {
    for (const int value : context.pick(sweep.full, sweep.quick)) {
      auto settings = others;
      settings.push_back(fmt::format("{}={}", sweep.setting, value));
      grid.rows.push_back({fmt::format("{} = {}", sweep.name, value),
                           "privrec",
                           std::move(settings),
                           sweep.name,
                           {},
                           sweep.name,
                           static_cast<double>(value)});
    }
  }
  return grid;
}

Result<Grid> privrec_dp(const GridContext& context) {
  Grid grid;
  grid.title = "DP-PrivRec, Figures 3 and 4: what privacy costs";
  grid.about =
      "PrivRec without noise, DP-PrivRec as printed (the server adds the noise, so that nothing holds "
      "against it), and in sound mode for several budgets, of the published model and against the server, "
      "at δ = " +
      (context.option("delta").empty() ? "1e-6" : context.option("delta")) +
      "; and item vectors from two private sums (dp-svd). The paper's figures have no printed values; it "
      "finds losses within 10 %.";
  grid.paper_data = "MovieLens-1M";
  grid.stated = {"inputs", "labels", "printed_bound"};
  grid.shared = interaction_settings(context);
  // Every device draws noise for every number of the model: the quick model is narrower still.
  if (context.quick) grid.shared.insert(grid.shared.end(), {"embedding=8", "hidden=8"});
  grid.columns = interaction_columns();
  grid.plots = {{"hits", "Hits@k", "hits", "k", "Hits@k, %", 100, false, false, PlotSource::cutoffs},
                {"hits10", "Hits@10 by ε in sound mode", "hits10", "ε of the whole training, one user",
                 "Hits@10, %", 100, true}};
  const bool frappe = context.data == "Frappe";
  const std::string cohort =
      fmt::format("cohort={}", std::min<std::uint64_t>(std::max<std::uint64_t>(context.users / 4, 2),
                                                       context.pick<std::uint64_t>(1000, 300)));
  grid.rows = {{"PrivRec, no noise", "privrec", {}},
               {"PrivRec, no noise, reading what is printed", "privrec",
                frappe ? std::vector<std::string>{"inputs=paper"} : printed_privrec()},
               {"DP-PrivRec, as printed", "dp-privrec",
                joined(printed_dp_privrec(context), {fmt::format("printed_bound={}", frappe ? 35 : 40)})}};
  const auto epsilons = context.pick<std::vector<double>>({1, 2, 4, 8, 16}, {2, 8});
  const std::string asked = Budget::view_asked_for(context);
  for (const std::string against : {"published", "server"}) {
    if (!asked.empty() && asked != against) continue;
    for (const Budget& budget : Budget::each_of(context, epsilons, against)) {
      grid.rows.push_back(
          {"sound, " + budget.name(),
           "dp-privrec",
           joined(budget.settings(),
                  {"mode=sound", "optimiser=adam", context.pick("learning_rate=0.003", "learning_rate=0.03"),
                   context.pick("clip=1", "clip=0.1"), cohort,
                   fmt::format("rounds={}", context.pick(200, 20)), context.pick("sums=auto", "sums=law")}),
           "",
           {},
           fmt::format("budget of the {}", against == "server" ? "server's view" : "published model"),
           budget.epsilon});
      // So much noise that a grid of the default bits does not hold it.
      if (against == "server" && budget.epsilon < 4) grid.rows.back().settings.emplace_back("bits=22");
    }
  }
  for (const Budget& budget : Budget::each_of(context, epsilons, "server")) {
    std::vector<std::string> sums = {fmt::format("epsilon={}", budget.epsilon),
                                     fmt::format("items={}", context.pick(0, 100))};
    if (context.quick && context.users > most_quick_sum)
      sums.push_back(fmt::format(
          "train_share={:.3f}",
          std::max(static_cast<double>(most_quick_sum) / static_cast<double>(context.users), 0.01)));
    grid.rows.push_back({fmt::format("dp-svd, ε = {:g}", budget.epsilon),
                         "dp-svd",
                         std::move(sums),
                         "",
                         {},
                         "two private sums, both views",
                         budget.epsilon});
    grid.rows.back().own = {"rounds"};  // two releases, whatever a training takes
  }
  return grid;
}

Result<Grid> privrec_gamma_clip(const GridContext& context) {
  Grid grid;
  grid.title = "DP-PrivRec, Figure 5: clipping quantile γ and first bound S";
  grid.about =
      "The printed mechanism for several γ (share of users left whole) and first clipping bounds S. The "
      "paper's figure has no printed values. Nothing holds against the server in this mode: it adds the "
      "noise itself.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.stated = {"printed_bound", "printed_quantile"};
  grid.plots = {{"hits20", "Hits@20 by S and γ", "hits20", "first clipping bound S", "Hits@20, %", 100}};
  for (const double gamma : context.pick<std::vector<double>>({.1, .4, .7, .9}, {.1, .9})) {
    for (const int bound : context.pick<std::vector<int>>({20, 25, 30, 35, 40, 45}, {20, 45}))
      grid.rows.push_back({fmt::format("S = {}", bound),
                           "dp-privrec",
                           joined(printed_dp_privrec(context), {fmt::format("printed_bound={}", bound),
                                                                fmt::format("printed_quantile={:g}", gamma)}),
                           fmt::format("γ = {:g}", gamma),
                           {},
                           fmt::format("γ = {:g}", gamma),
                           static_cast<double>(bound)});
  }
  return grid;
}

Result<Grid> privrec_activity(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec: results by activity of the user";
  grid.about =
      "The paper says that first-order meta-learning helps inactive users most. Test users in three parts "
      "of equal size by the number of rows on their device.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = {{"by_activity.0.hits10", "Hits@10 %, least active third", 100, 2},
                  {"by_activity.1.hits10", "Hits@10 %, middle third", 100, 2},
                  {"by_activity.2.hits10", "Hits@10 %, most active third", 100, 2},
                  {"hits10", "Hits@10 %, all", 100, 2},
                  {"by_activity.0.ndcg10", "nDCG@10 %, least active third", 100, 2},
                  {"by_activity.2.ndcg10", "nDCG@10 %, most active third", 100, 2}};
  grid.plots = {{"least-active", "The least active third", "by_activity.0.hits10", "", "Hits@10, %", 100},
                {"most-active", "The most active third", "by_activity.2.hits10", "", "Hits@10, %", 100}};
  grid.rows = {{"PrivRec", "privrec", {}},
               {"FOFL-SELF", "fofl-self", {}},
               {"NN-SELF", "nn-self", {}},
               {"FCF", "fcf", {}},
               {"PrivRec-CEN", "privrec-cen", {}}};
  return grid;
}

Result<Grid> privrec_no_proximal(const GridContext& context) {
  Grid grid;
  grid.title = "PrivRec without its proximal term";
  grid.about =
      "The paper credits the proximal term, which holds a device's copy to the global model, for a part of "
      "its gain, and prints no ablation. μ = 0 is without it. Several local epochs: with one step the term "
      "has no effect, its gradient at the start being zero.";
  grid.paper_data = "MovieLens-1M";
  grid.shared = interaction_settings(context);
  grid.columns = interaction_columns();
  grid.stated = {"proximal", "proximal_norm"};
  grid.plots = {{"hits10", "Hits@10 by strength of the proximal term", "hits10", "", "Hits@10, %", 100}};
  const auto row = [&](const std::string& label, double mu, const char* norm) {
    grid.rows.push_back(
        {label,
         "privrec",
         {fmt::format("rounds={}", context.pick(100, 20)), fmt::format("proximal={:g}", mu)}});
    if (mu > 0) grid.rows.back().settings.push_back(fmt::format("proximal_norm={}", norm));
  };
  row("μ = 0", 0, "paper");
  for (const double mu : {0.01, 0.1, 1.0}) {
    row(fmt::format("μ = {:g}, squared", mu), mu, "squared");
    row(fmt::format("μ = {:g}, as printed", mu), mu, "paper");
  }
  return grid;
}

// Tables 3 and 4 of DP-PrivRec: the ε that the paper prints, reproduced, and what the same mechanism really
// costs.

namespace {

ReportTable table_of(const std::vector<privacy::PaperCell>& cells) {
  ReportTable table;
  for (const char* heading : {"table", "users per round", "users", "δ", "ε, paper", "ε, reproduced",
                              "ε, composed once per round", "smallest ε we can prove"})
    table.columns.push_back({heading, Better::neither});
  table.columns.push_back({"by", Better::neither});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const privacy::PaperCell& cell = cells[i];
    // The paper's first column: no Gaussian noise has an ε at δ = 0.
    if (i == 0 || cell.table != cells[i - 1].table || cell.cohort != cells[i - 1].cohort)
      table.rows.push_back({TableCell::number(cell.table, 0),
                            TableCell::number(static_cast<double>(cell.cohort), 0),
                            TableCell::number(static_cast<double>(cell.population), 0),
                            {"0", 0},
                            TableCell::words("∞"),
                            TableCell::words("∞"),
                            TableCell::words("∞"),
                            TableCell::words("∞"),
                            TableCell::words("no bound")});
    table.rows.push_back({TableCell::number(cell.table, 0),
                          TableCell::number(static_cast<double>(cell.cohort), 0),
                          TableCell::number(static_cast<double>(cell.population), 0),
                          {fmt::format("{:g}", cell.delta), cell.delta},
                          TableCell::number(cell.paper, 4),
                          TableCell::number(cell.reproduced, 4),
                          TableCell::number(cell.per_round, 4),
                          TableCell::number(cell.best, 4),
                          TableCell::words(std::string(name(cell.best_method)))});
  }
  table.caption =
      "Noise multiplier 1, 1000 rounds, cohorts without replacement; one user replaced; against everyone "
      "but the server, which knows the cohorts.";
  return table;
}

Plot plot_of(const std::vector<privacy::PaperCell>& cells, int table, double delta) {
  Plot plot;
  plot.title = fmt::format("Table {}, δ = {:g}", table, delta);
  plot.x_label = "users per round M";
  plot.y_label = "ε";
  plot.series = {{"as printed", SeriesStyle::line_and_points, {}, {}, {}},
                 {"composed once per round", SeriesStyle::line_and_points, {}, {}, {}},
                 {"smallest we can prove", SeriesStyle::line_and_points, {}, {}, {}}};
  for (const privacy::PaperCell& cell : cells) {
    if (cell.table != table || cell.delta != delta) continue;
    const double values[] = {cell.paper, cell.per_round, cell.best};
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      plot.series[i].x.push_back(static_cast<double>(cell.cohort));
      plot.series[i].y.push_back(values[i]);
    }
  }
  return plot;
}

}  // namespace

Result<ExperimentResult> privrec_accountant(const ExperimentRequest& request) {
  if (!request.assignments.empty()) return bad_input("the paper's tables have no settings: leave out --set");
  SOTTO_TRY(const auto cells, privacy::privrec_tables());
  SOTTO_CHECK(make_folder(request.out));
  constexpr double shown_delta = 1e-6;
  const Plot movielens = plot_of(cells, 3, shown_delta), frappe = plot_of(cells, 4, shown_delta);
  HtmlReport report("DP-PrivRec, Tables 3 and 4: ε by cohort and δ",
                    request.quick ? "The same with --quick: nothing here is trained" : "");
  report.paragraph(
      "The paper composes once per client instead of once per round, which overstates ε up to 5.5 times, "
      "and cuts after four digits. Amplification by sampling holds only against those who do not know the "
      "cohort.");
  report.plot(movielens).plot(frappe).table(table_of(cells));
  const std::pair<const char*, std::string> contents[] = {{"results.csv", to_csv(table_of(cells))},
                                                          {"table3.svg", to_svg(movielens)},
                                                          {"table4.svg", to_svg(frappe)},
                                                          {"report.html", report.html()}};
  ExperimentResult result;
  for (const auto& [file, text] : contents) {
    SOTTO_CHECK(write_file_atomically(request.out / file, text));
    result.files.push_back(request.out / file);
  }
  for (const privacy::PaperCell& cell : cells) {
    result.text += fmt::format(
        "table {}  M = {:<3} of {:<5} δ = {:<6g} paper {:>8.4f}  reproduced {:>8.4f}  per round {:>8.4f}  "
        "best {:>8.4f}\n",
        cell.table, cell.cohort, cell.population, cell.delta, cell.paper, cell.reproduced, cell.per_round,
        cell.best);
    if (request.event)
      request.event({{"event", "row"},
                     {"table", cell.table},
                     {"cohort", cell.cohort},
                     {"delta", cell.delta},
                     {"epsilon_paper", cell.paper},
                     {"epsilon_reproduced", cell.reproduced},
                     {"epsilon", cell.best},
                     {"quick", request.quick}});
  }
  return result;
}

}  // namespace sotto::eval
