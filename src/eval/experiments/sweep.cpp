#include "eval/experiments/sweep.h"

#include <charconv>

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

// Every row against the first, seed by seed.
std::vector<GridExtra::Table> differences(const std::vector<GridColumn>& columns,
                                          const std::vector<GridResult>& results) {
  if (results.size() < 2) return {};
  ReportTable table;
  table.caption = fmt::format(
      "Difference to '{}', of runs with equal seeds: mean ± standard error. One seed has no error.",
      results.front().row.label);
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
      const MeanAndError difference = metrics::mean_and_error(pairs);
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
  grid.tables = [columns = grid.columns](const std::vector<GridResult>& results) {
    return differences(columns, results);
  };
  return run_grid(grid, "sweep", request.run, dataset);
}

}  // namespace sotto::eval
