// Plots of a grid: rows along an axis, rows side by side, or the rounds of their runs.

#include <algorithm>

#include "eval/experiments/grid/grid_report.h"
#include "fl/run_log.h"

namespace sotto {

namespace {

PlotSeries& series_of(Plot& plot, const std::string& label, SeriesStyle style) {
  for (PlotSeries& series : plot.series)
    if (series.label == label) return series;
  plot.series.push_back({label, style, {}, {}, {}});
  return plot.series.back();
}

void add_point(PlotSeries& series, double x, const MeanAndError& mean, double factor) {
  series.x.push_back(x);
  series.y.push_back(factor * mean.mean);
  series.error.push_back(std::isfinite(mean.error) ? factor * mean.error : 0);
}

void add_axis(Plot& plot, const GridPlot& wanted, const GridOutcome& outcome) {
  for (const GridResult& result : outcome.results)
    if (std::isfinite(result.row.x) && std::isfinite(result.mean(wanted.measure).mean))
      add_point(series_of(plot, result.row.series, SeriesStyle::line_and_points), result.row.x,
                result.mean(wanted.measure), wanted.factor);
}

void add_categories(Plot& plot, const GridPlot& wanted, const GridOutcome& outcome) {
  for (const GridResult& result : outcome.results) {
    const auto place = static_cast<double>(plot.categories.size());
    const std::string& group = result.row.group;
    plot.categories.push_back(group.empty() ? result.row.label : group + ": " + result.row.label);
    add_point(series_of(plot, "", SeriesStyle::points), place, result.mean(wanted.measure), wanted.factor);
  }
  plot.width = std::max(plot.width, static_cast<int>(90 * plot.categories.size()));
}

// The mean over seeds, round by round, where every seed has a value.
void add_rounds(Plot& plot, const GridPlot& wanted, const GridOutcome& outcome) {
  for (const GridResult& result : outcome.results) {
    std::map<std::uint32_t, std::vector<double>> by_round;
    for (const fs::path& run : result.runs) {
      for (const RoundRecord& record : read_run_log(run / "log.jsonl")) {
        if (wanted.measure == "loss")
          by_round[record.round].push_back(record.loss);
        else if (record.validation)
          by_round[record.round].push_back(record.validation->auc);
      }
    }
    PlotSeries& series = series_of(plot, result.row.label, SeriesStyle::line);
    for (const auto& [round, values] : by_round)
      if (values.size() == result.runs.size())
        add_point(series, round, {mean_over_seeds(values).mean, NAN}, wanted.factor);
    series.error.clear();
  }
}

}  // namespace

Plot to_plot(const GridPlot& wanted, const GridOutcome& outcome) {
  Plot plot;
  plot.title = wanted.title + (outcome.facts.quick ? " (quick run)" : "");
  plot.x_label = wanted.x_label;
  plot.y_label = wanted.y_label;
  plot.log_x = wanted.log_x;
  plot.log_y = wanted.log_y;
  plot.width = 760;
  plot.height = 420;
  if (wanted.source == PlotSource::rounds) {
    add_rounds(plot, wanted, outcome);
    return plot;
  }
  const bool axis = std::any_of(outcome.results.begin(), outcome.results.end(),
                                [](const GridResult& result) { return std::isfinite(result.row.x); });
  if (axis)
    add_axis(plot, wanted, outcome);
  else
    add_categories(plot, wanted, outcome);
  // Random order is far below everything of interest and would flatten the rest.
  for (const TrivialRow& row : outcome.trivial) {
    const auto found = row.values.find(wanted.measure);
    if (found == row.values.end() || row.label.find("popular") == std::string::npos) continue;
    const double value = wanted.factor * found->second;
    const bool drawn = std::any_of(plot.references.begin(), plot.references.end(),
                                   [&](const ReferenceLine& line) { return line.y == value; });
    if (!drawn) plot.references.push_back({value, row.label});
  }
  return plot;
}

}  // namespace sotto
