#include "eval/experiments/sweep.h"

#include <charconv>

#include "base/log.h"
#include "eval/compare_runs.h"
#include "eval/experiments/grid/run_grid.h"

namespace sotto::eval {

namespace {

constexpr std::size_t most_rows = 1000;

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

Result<Axis> parse_axis(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return bad_input("'{}' is not of the form key=a,b,c", text);
  Axis axis{text.substr(0, equals), {}};
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const std::string value = text.substr(begin, end - begin);
    if (value.empty()) return bad_input("'{}' has an empty value", text);
    if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
      return bad_input("'{}' names {} twice", text, value);
    axis.values.push_back(value);
    begin = end + 1;
  }
  return axis;
}

double number_or_nan(const std::string& text) {
  double value = NAN;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? value : NAN;
}

Result<std::vector<GridRow>> rows_of(const std::vector<std::string>& recipes, const std::vector<Axis>& axes) {
  std::size_t combinations = recipes.size();
  for (const Axis& axis : axes) {
    combinations *= axis.values.size();
    if (combinations > most_rows) return bad_input("more than {} combinations: name fewer values", most_rows);
  }
  std::vector<GridRow> rows;
  for (const std::string& recipe : recipes) {
    std::vector<std::size_t> at(axes.size(), 0);
    while (true) {
      GridRow row{
          .label = recipes.size() > 1 || axes.empty() ? recipe : "", .recipe = recipe, .settings = {}};
      for (std::size_t a = 0; a < axes.size(); ++a) {
        const std::string assignment = axes[a].key + "=" + axes[a].values[at[a]];
        row.settings.push_back(assignment);
        row.label += (row.label.empty() ? "" : " ") + assignment;
        // The first axis is the plot's, the others its curves.
        if (a > 0) row.series += (row.series.empty() ? "" : " ") + assignment;
      }
      if (recipes.size() > 1) row.series = recipe + (row.series.empty() ? "" : " ") + row.series;
      if (row.series.empty()) row.series = recipe;
      if (!axes.empty()) row.x = number_or_nan(axes.front().values[at.front()]);
      rows.push_back(std::move(row));
      std::size_t a = axes.size();
      while (a > 0 && ++at[a - 1] == axes[a - 1].values.size()) at[--a] = 0;
      if (a == 0) break;
    }
  }
  return rows;
}

// A seed that diverged in one of the rows has no pair.
std::vector<double> differences_by_seed(const GridResult& first, const std::vector<double>& first_values,
                                        const GridResult& own, const std::vector<double>& own_values) {
  std::vector<double> pairs;
  for (std::size_t i = 0; i < std::min(own.seeds.size(), own_values.size()); ++i) {
    const auto found = std::find(first.seeds.begin(), first.seeds.end(), own.seeds[i]);
    const auto place = static_cast<std::size_t>(found - first.seeds.begin());
    if (place < first_values.size()) pairs.push_back(own_values[i] - first_values[place]);
  }
  return pairs;
}

// One seed each: the measure of comparisons, impression by impression or test user by test user, of the runs
// tested again. NaN where a run is missing or its test was stopped.
std::vector<MeanAndError> differences_by_test(const std::vector<GridResult>& results, const fs::path& data) {
  std::vector<MeanAndError> differences(results.size(), {NAN, NAN});
  const auto test_all = [&]() -> Status {
    SOTTO_TRY(const auto dataset, data::Dataset::open(data));
    if (results.front().runs.size() != 1) return {};
    SOTTO_TRY(const TestedAgain first, test_again(results.front().runs.front(), dataset));
    for (std::size_t i = 1; i < results.size(); ++i) {
      if (results[i].runs.size() != 1) continue;
      SOTTO_TRY(const TestedAgain own, test_again(results[i].runs.front(), dataset));
      if (own.unit == first.unit && own.each.size() == first.each.size())
        differences[i] = paired_difference(first.each, own.each);
    }
    return {};
  };
  if (const Status tested = test_all(); !tested) warn("no differences by pairs: {}", tested.error().message);
  return differences;
}

// Every row against the first, seed by seed; of one seed, the measure of comparisons by its tests.
std::vector<GridExtra::Table> differences(const std::vector<GridColumn>& columns, std::string_view measure,
                                          const fs::path& data, const std::vector<GridResult>& results) {
  if (results.size() < 2) return {};
  const bool one_seed = std::all_of(results.begin(), results.end(),
                                    [](const GridResult& result) { return result.seeds.size() <= 1; });
  const std::vector<MeanAndError> by_test =
      one_seed ? differences_by_test(results, data) : std::vector<MeanAndError>();
  ReportTable table;
  table.caption = fmt::format(
      "Difference to '{}': mean ± standard error, {}.", results.front().row.label,
      one_seed
          ? fmt::format("of {} over what both were tested on; one seed says nothing of the others' error",
                        measure)
          : "of runs with equal seeds");
  table.columns.push_back({"row", Better::neither});
  for (const GridColumn& column : columns) table.columns.push_back({column.heading, Better::neither});
  for (std::size_t i = 1; i < results.size(); ++i) {
    std::vector<TableCell> cells = {TableCell::words(results[i].row.label)};
    for (const GridColumn& column : columns) {
      const auto first = results.front().values.find(column.measure),
                 own = results[i].values.find(column.measure);
      std::vector<double> pairs;
      if (first != results.front().values.end() && own != results[i].values.end())
        pairs = differences_by_seed(results.front(), first->second, results[i], own->second);
      MeanAndError difference = metrics::mean_and_error(pairs);
      if (one_seed && column.measure == measure && std::isfinite(by_test[i].mean)) difference = by_test[i];
      if (!std::isfinite(difference.mean)) {
        cells.push_back(TableCell::words("–"));
        continue;
      }
      std::string text = fmt::format("{:+.{}f}", column.factor * difference.mean, column.decimals);
      if (std::isfinite(difference.error))
        text += fmt::format(" ± {:.{}f}", column.factor * difference.error, column.decimals);
      cells.push_back({text, column.factor * difference.mean});
    }
    table.rows.push_back(std::move(cells));
  }
  return {{"differences", std::move(table)}};
}

}  // namespace

Result<ExperimentResult> run_sweep(const SweepRequest& request) {
  std::vector<Axis> axes;
  for (const std::string& text : request.axes) {
    SOTTO_TRY(auto axis, parse_axis(text));
    for (const Axis& other : axes)
      if (other.key == axis.key) return bad_input("{} is swept twice", axis.key);
    for (const std::string& assignment : request.run.assignments)
      if (assignment.starts_with(axis.key + "="))
        return bad_input("--grid {} and --set {} contradict each other: give one of them", text, assignment);
    axes.push_back(std::move(axis));
  }
  SOTTO_TRY(const auto dataset, data::Dataset::open(request.run.data));
  Grid grid;
  grid.title = "Sweep";
  grid.about = "Every combination of the values named, all other settings alike.";
  SOTTO_TRY(grid.rows, rows_of(request.recipes, axes));
  grid.columns = dataset.has_impressions() ? news_columns() : interaction_columns();
  if (!axes.empty() && std::isfinite(grid.rows.front().x)) {
    const GridColumn& main = dataset.has_impressions() ? grid.columns[0] : grid.columns[1];
    grid.plots.push_back({"by_" + axes.front().key, fmt::format("{} by {}", main.heading, axes.front().key),
                          main.measure, axes.front().key, main.heading, main.factor});
  }
  const std::string measure = dataset.has_impressions() ? "auc" : "hits10";
  grid.tables = [columns = grid.columns, measure,
                 data = request.run.data](const std::vector<GridResult>& results) {
    return differences(columns, measure, data, results);
  };
  return run_grid(grid, "sweep", request.run, dataset);
}

}  // namespace sotto::eval
