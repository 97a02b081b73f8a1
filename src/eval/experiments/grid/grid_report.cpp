#include "eval/experiments/grid/grid_report.h"

#include <algorithm>

#include "eval/experiments/quick_clock.h"
#include "fl/run_log.h"
#include "metrics/held_out_report.h"
#include "metrics/unit_of_metrics.h"

namespace sotto::eval {

// The tables of a grid as CSV and as text.
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) result += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return result + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.7g}", value) : ""; }

double paper_value(const GridRow& row, const std::string& measure) {
  for (const PaperNumber& known : row.paper)
    if (known.measure == measure) return known.value;
  return NAN;
}

// Noise of these runs is seeded: such a number holds for secret noise alone.
bool is_numeric(const EpsilonTexts& epsilon) {
  const auto has_digits = [](const std::string& text) {
    return text.find_first_of("0123456789") != std::string::npos;
  };
  return has_digits(epsilon.claimed) || has_digits(epsilon.server) || has_digits(epsilon.published);
}

}  // namespace

std::string simulation_note(const GridOutcome& outcome) {
  for (const GridResult& result : outcome.results) {
    if (is_numeric(epsilon_texts(result)))
      return "simulation: no ε holds for these files; with secret noise it would be as in the table";
  }
  return "";
}

std::string incompleteness_note(const GridOutcome& outcome) {
  if (!outcome.facts.incomplete) return "";
  return fmt::format("INCOMPLETE: {} before all rows had {} seed{}",
                     outcome.facts.out_of_time ? "the two minutes were over" : "stopped", outcome.facts.seeds,
                     outcome.facts.seeds == 1 ? "" : "s");
}

std::string popularity_note(const GridOutcome& outcome) {
  std::size_t below = 0, ranked = 0;
  for (const GridResult& result : outcome.results) {
    const auto is_below = is_below_popularity(result, outcome.trivial);
    if (!is_below) continue;
    ++ranked;
    if (*is_below) ++below;
  }
  if (below == 0) return "";
  return fmt::format("† below popularity, by AUC or Hits@10: {} nothing about the order of systems",
                     below == ranked ? "as all rows are, this run says" : "the row says");
}

std::vector<std::string> row_notes(const GridOutcome& outcome) {
  std::vector<std::string> notes;
  for (const GridResult& result : outcome.results) {
    const auto note = [&](const std::string& text) {
      notes.push_back(fmt::format("{}{}{}: {}", result.row.group, result.row.group.empty() ? "" : ": ",
                                  result.row.label, text));
    };
    if (const std::string cut = result.cut_short(); !cut.empty()) note(cut);
    if (!result.diverged.empty() && !result.runs.empty())
      note(result.divergence() + "; its numbers are of the others");
  }
  return notes;
}

std::string to_csv(const GridOutcome& outcome) {
  const Grid& grid = outcome.grid;
  std::string csv =
      "experiment,run,data,group,label,recipe,x,seeds,diverged,stopped_after,epsilon_claimed,epsilon_true,"
      "epsilon_"
      "published,delta,simulation";
  for (const GridColumn& column : grid.columns)
    csv += fmt::format(",{0},{0}_error,{0}_paper", quoted(column.measure));
  csv += ",below_popularity,paper_data,settings,unit_of_metrics\n";
  const std::string unit = quoted(metrics::unit_of_metrics);
  const std::string head =
      fmt::format("{},{}{},{}", outcome.facts.experiment, outcome.facts.quick ? "quick" : "full",
                  outcome.facts.incomplete ? " (incomplete)" : "", quoted(outcome.facts.data));
  for (const TrivialRow& row : outcome.trivial) {
    csv += fmt::format("{},{},{},,,,,,none,none,none,,", head, quoted(row.group), quoted(row.label));
    for (const GridColumn& column : grid.columns) {
      const auto value = row.values.find(column.measure);
      csv += fmt::format(",{},,", value == row.values.end() ? "" : number(value->second));
    }
    csv += fmt::format(",,,,{}\n", unit);
  }
  for (const GridResult& result : outcome.results) {
    const GridRow& row = result.row;
    const EpsilonTexts epsilon = epsilon_texts(result);
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}", head, quoted(row.group), quoted(row.label),
                       row.recipe, number(row.x), result.runs.size() + result.diverged.size(),
                       result.diverged.size(), number(result.mean("stopped_after").mean),
                       quoted(epsilon.claimed), quoted(epsilon.server), quoted(epsilon.published),
                       number(result.mean("delta").mean), is_numeric(epsilon) ? "yes" : "");
    for (const GridColumn& column : grid.columns) {
      const MeanAndError mean = result.mean(column.measure);
      csv += fmt::format(",{},{},{}", number(mean.mean), number(mean.error),
                         number(paper_value(row, column.measure)));
    }
    std::vector<std::string> settings = row.settings;
    settings.insert(settings.end(), row.at_test.begin(), row.at_test.end());
    const auto below = is_below_popularity(result, outcome.trivial);
    csv += fmt::format(",{},{},{},{}\n",
                       !below   ? ""
                       : *below ? "yes"
                                : "no",
                       row.paper.empty() ? "" : quoted(grid.paper_data),
                       quoted(fmt::format("{}", fmt::join(settings, " "))), unit);
  }
  return csv;
}

std::string to_csv(const ReportTable& table) {
  std::string csv;
  const auto line = [&](const auto& cells, const auto& text) {
    for (std::size_t i = 0; i < cells.size(); ++i) csv += (i == 0 ? "" : ",") + quoted(text(cells[i]));
    csv += '\n';
  };
  line(table.columns, [](const TableColumn& column) { return column.heading; });
  for (const auto& row : table.rows)
    line(row, [](const TableCell& cell) { return cell.value ? number(*cell.value) : cell.text; });
  return csv;
}

namespace {

constexpr std::size_t text_columns = 100, longest_label = 40;

// Columns, as far as code points tell.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char letter) { return (letter & '\xC0') != '\x80'; }));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (width_of(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end)
    if ((text[end] & '\xC0') != '\x80' && ++seen == most) break;
  return text.substr(0, end) + "…";
}

// Cells of a table for people, its first column the rows' names.
struct TextTable {
  std::vector<std::vector<std::string>> rows;  // the headings first

  std::size_t width(std::size_t column) const {
    std::size_t most = 0;
    for (const auto& row : rows) most = std::max(most, width_of(row[column]));
    return most + 2;
  }
  bool is_empty(std::size_t column) const {
    return std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column].empty(); });
  }
  void remove(std::size_t column) {
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  std::size_t width() const {
    std::size_t all = 0;
    for (std::size_t column = 0; column < rows.front().size(); ++column) all += width(column);
    return all;
  }
  std::string text() const {
    std::string lines;
    for (const auto& row : rows) {
      std::string line;
      for (std::size_t column = 0; column < row.size(); ++column) line += padded(row[column], width(column));
      line.erase(line.find_last_not_of(' ') + 1);
      lines += line + "\n";
    }
    return lines;
  }
};

TextTable table_of(const GridOutcome& outcome) {
  const Grid& grid = outcome.grid;
  const auto label_of = [](const std::string& group, const std::string& label) {
    return shortened(group.empty() ? label : group + ": " + label, longest_label);
  };
  TextTable table;
  std::vector<std::string> headings = {""};
  for (const GridColumn& column : grid.columns) headings.push_back(column.heading);
  headings.insert(headings.end(), {"ε claimed", "ε, server", "ε, published"});
  table.rows.push_back(std::move(headings));
  for (const TrivialRow& row : outcome.trivial) {
    std::vector<std::string> cells = {label_of(row.group, row.label)};
    for (const GridColumn& column : grid.columns) {
      const auto value = row.values.find(column.measure);
      cells.push_back(value == row.values.end()
                          ? "–"
                          : fmt::format("{:.{}f}", column.factor * value->second, column.decimals));
    }
    cells.insert(cells.end(), {"", "", ""});
    table.rows.push_back(std::move(cells));
  }
  for (const GridResult& result : outcome.results) {
    std::vector<std::string> cells = {label_of(result.row.group, result.row.label)};
    if (is_below_popularity(result, outcome.trivial).value_or(false)) cells[0] += below_popularity_mark;
    for (const GridColumn& column : grid.columns) {
      const auto [mean, error] = result.mean(column.measure);
      std::string cell =
          std::isfinite(mean) ? fmt::format("{:.{}f}", column.factor * mean, column.decimals) : "–";
      if (std::isfinite(error)) cell += fmt::format(" ± {:.{}f}", column.factor * error, column.decimals);
      cells.push_back(std::move(cell));
    }
    if (result.has_diverged()) cells[1] = result.divergence();
    const EpsilonTexts epsilon = epsilon_texts(result);
    cells.insert(cells.end(), {epsilon.claimed, epsilon.server, epsilon.published});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::string to_text(const GridOutcome& outcome) {
  TextTable table = table_of(outcome);
  const std::size_t claimed = outcome.grid.columns.size() + 1;
  if (table.is_empty(claimed)) table.remove(claimed);
  std::vector<std::string> left_out;  // the last measures go first
  for (std::size_t column = outcome.grid.columns.size(); column > 1 && table.width() > text_columns;
       --column) {
    left_out.insert(left_out.begin(), outcome.grid.columns[column - 1].heading);
    table.remove(column);
  }
  std::string text;
  if (outcome.facts.quick)
    text = fmt::format("QUICK RUN: for a look, not for a claim; {}\n", quick_clock_note);
  if (const std::string note = incompleteness_note(outcome); !note.empty()) text += note + "\n";
  text += table.text();
  if (!left_out.empty())
    text += fmt::format("in results.csv and report.html only: {}\n", fmt::join(left_out, ", "));
  for (const std::string& note : row_notes(outcome)) text += note + "\n";
  for (const std::string& note : {popularity_note(outcome), simulation_note(outcome)})
    if (!note.empty()) text += note + "\n";
  return text;
}

// Plots of a grid: rows along an axis, rows side by side, or the rounds of their runs.
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

// The mean over seeds, round by round, where every seed has a value. A row that was kept without its run has
// no rounds.
void add_rounds(Plot& plot, const GridPlot& wanted, const GridOutcome& outcome) {
  for (const GridResult& result : outcome.results) {
    std::map<std::uint32_t, std::vector<double>> by_round;
    std::size_t logs = 0;
    for (const fs::path& run : result.runs) {
      const auto records = fl::read_run_log(run / "log.jsonl");
      if (!records.empty()) ++logs;
      for (const fl::RoundRecord& record : records) {
        if (wanted.measure == "loss")
          by_round[record.round].push_back(record.loss);
        else if (record.validation)
          by_round[record.round].push_back(record.validation->auc);
      }
    }
    PlotSeries& series = series_of(plot, result.row.label, SeriesStyle::line);
    for (const auto& [round, values] : by_round)
      if (values.size() == logs)
        add_point(series, round, {metrics::mean_and_error(values).mean, NAN}, wanted.factor);
    series.error.clear();
  }
}

void add_cutoffs(Plot& plot, const GridPlot& wanted, const GridOutcome& outcome) {
  for (const GridResult& result : outcome.results) {
    PlotSeries& series = series_of(plot, result.row.label, SeriesStyle::line_and_points);
    for (const auto cutoff : metrics::HeldOutMetrics::cutoffs) {
      const MeanAndError mean = result.mean(fmt::format("{}{}", wanted.measure, cutoff));
      if (std::isfinite(mean.mean)) add_point(series, static_cast<double>(cutoff), mean, wanted.factor);
    }
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
  if (wanted.source == PlotSource::cutoffs) {
    add_cutoffs(plot, wanted, outcome);
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

}  // namespace sotto::eval
