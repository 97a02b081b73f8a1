#pragma once
// Most tables and figures are a grid of training runs: rows that differ in recipe or settings, each trained
// with several seeds. A Grid is the declaration; run_grid() does the rest. Plain values.

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset.h"
#include "eval/reporting.h"
#include "metrics/mean.h"

namespace sotto::data {
class Dataset;
}

namespace sotto::eval {

using metrics::MeanAndError;

// What a declaration may look at: settings are scaled to the data where the paper's size makes no sense.
struct GridContext {
  bool quick = false;
  std::string data;  // the data set's name
  std::uint64_t users = 0, items = 0;
  std::vector<std::string> assignments;  // key=value, as given by the user
  double clicks_per_user = 0;            // in impressions; 0: not known

  template <class T>
  T pick(T full, T quick_value) const {
    return quick ? quick_value : full;
  }
  // The value of an assignment; empty when it was not given.
  std::string option(std::string_view name) const;
};

// The ε of a row and whose view it bounds. Where the user sets one of them it is the user's, so that a label
// made of it says what was trained. An ε without a word of whose view bounds the server's, as it does in
// training.
struct Budget {
  double epsilon = 0;
  std::string against;  // "server" or "published"

  static std::string view_asked_for(const GridContext& context);  // empty: the user leaves it to the row
  static Budget of(const GridContext& context, double epsilon, const std::string& against);
  // The user's ε alone where there is one.
  static std::vector<Budget> each_of(const GridContext& context, const std::vector<double>& epsilons,
                                     const std::string& against);
  std::string name() const;  // "ε = 8, published"
  std::vector<std::string> settings() const;
};

// A paper's own number of a measure, in the units of the measure (an AUC of 64.65 % is 0.6465).
struct PaperNumber {
  std::string measure;
  double value = 0;
};

// What holds for one query of a served model: not a property of training.
struct QueryEpsilon {
  double claimed = 0;
  std::optional<double> holds;  // nothing: no differential privacy
};

struct GridRow {
  std::string label;  // unique within its group
  std::string recipe;
  std::vector<std::string> settings;  // key=value; the recipe must know every one
  std::string group = "";             // rows of a group stand together
  std::vector<PaperNumber> paper = {};
  std::string series = "";  // its curve in plots
  double x = NAN;           // its place on the axis of plots
  // Settings that change only how the trained model is tested. Rows that differ in nothing else share a run.
  std::vector<std::string> at_test = {};
  std::optional<QueryEpsilon> query = std::nullopt;
  bool takes_shared = true;  // false: the recipe's own defaults instead of the grid's shared settings
  // Names of settings that mean something else here than in the other rows: neither shared ones nor the
  // user's reach them.
  std::vector<std::string> own = {};
};

struct GridColumn {
  std::string measure, heading;
  double factor = 100;
  int decimals = 2;
  Better better = Better::higher;
};

enum class PlotSource {
  rows,     // one point per row: x and the measure
  rounds,   // the measure ("auc" or "loss") after every round, one curve per row
  cutoffs,  // the measure ("hits" or "ndcg") at k = 5, 10, 20, 30, one curve per row
};

struct GridPlot {
  std::string file;  // without .svg
  std::string title, measure, x_label, y_label;
  double factor = 100;
  bool log_x = false, log_y = false;
  PlotSource source = PlotSource::rows;
};

// A finished row: the values of its measures by seed. A seed whose model diverged has no values; that it did
// is what came out.
struct GridResult {
  GridRow row;
  std::map<std::string, std::vector<double>> values;
  std::vector<fs::path> runs = {};           // the folders they were trained in
  std::vector<std::uint64_t> seeds = {};     // of the runs, in their order
  std::vector<std::uint32_t> diverged = {};  // the rounds in which the other seeds diverged

  // NaN when the row has no such measure.
  MeanAndError mean(const std::string& measure) const;
  bool has_diverged() const { return runs.empty() && !diverged.empty(); }  // every seed
  // "diverged, round 2", "2 of 3 seeds diverged, rounds 2 to 9"; empty: none did.
  std::string divergence() const;
  // "stopped by the clock after 3 of 40 rounds"; empty: none of its runs was.
  std::string cut_short() const;
};

// What an experiment adds to its report beside the grid; tables also become TABLE.csv.
struct GridExtra {
  struct Table {
    std::string file;  // without .csv
    ReportTable table;
  };
  std::vector<Table> tables;
  std::vector<std::pair<std::string, Plot>> plots;  // file without .svg
  std::string note;
};

struct Grid {
  std::string title;
  std::string about;       // what the paper shows, what is done here, what differs
  std::string paper_data;  // name of the data set that the paper's numbers belong to
  // Settings of every row whose recipe knows them; a row's own come after.
  std::vector<std::string> shared;
  std::vector<GridRow> rows;
  std::vector<GridColumn> columns;
  std::vector<GridPlot> plots;
  // Assignments that the declaration reads itself: they are no recipe's.
  std::vector<std::string> options = {};
  // Settings that a row which has them is named after, by its label, its group or its place on an axis,
  // beside budgets, of which this is always true: the user cannot give them another value.
  std::vector<std::string> stated = {};
  // One paragraph about what came out, written from the numbers.
  std::function<std::string(const std::vector<GridResult>& results)> verdict = {};
  std::function<Result<GridExtra>(const data::Dataset& dataset)> extra = {};
  // Tables made of the finished rows.
  std::function<std::vector<GridExtra::Table>(const std::vector<GridResult>& results)> tables = {};
};

// Whether the paper's numbers belong to this data set. Imports of MIND are called MIND whatever their size:
// by its number of users the small one is told from the large one.
bool is_paper_data(const Grid& grid, std::string_view data, std::uint64_t users);

// The usual columns of impressions and of interactions.
std::vector<GridColumn> news_columns();
std::vector<GridColumn> interaction_columns();

// Four numbers in percent, as news papers print them.
std::vector<PaperNumber> paper_news(double auc, double mrr, double ndcg5, double ndcg10);

// From finished runs to numbers: measures by name, the rankings without a model, and what to call them.

// Adds one seed's numbers to a row: every number of the object under its path, such as "auc",
// "by_activity.0.hits10" or "beside.popularity.hits10".
void add_measures(GridResult& result, const nlohmann::json& run);

// What needs no training, for the table: label and measures.
struct TrivialRow {
  std::string group, label;
  std::map<std::string, double> values;
};

// Impressions: popularity, random order and, where the data set knows it, the best possible, over the same
// test impressions as the rows (0: all). Interactions: what stands beside the rows of every group, averaged
// over seeds.
std::vector<TrivialRow> trivial_rows(const data::Dataset& dataset, const fs::path& data,
                                     const std::vector<GridResult>& results, std::uint64_t test_impressions);

// Whether a row ranks worse than what is popular does, by AUC or by Hits@10 in the same test: then it says
// nothing about the order of systems. Nothing where it has neither number.
std::optional<bool> is_below_popularity(const GridResult& result, const std::vector<TrivialRow>& trivial);

// The ε columns of a row: what the paper claims, what holds against the server and of what is published.
// "none" where nothing holds, empty where nothing is claimed or no model was released.
struct EpsilonTexts {
  std::string claimed, server, published;
};
EpsilonTexts epsilon_texts(const GridResult& result);

}  // namespace sotto::eval
