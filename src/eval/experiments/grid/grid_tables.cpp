// The tables of a grid as CSV and as text.

#include <algorithm>

#include "eval/experiments/grid/grid_report.h"

namespace sotto {

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

// Letters as a terminal counts them: UTF-8 bytes that continue a letter take no room.
std::string padded(const std::string& text, std::size_t width) {
  const auto letters = static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
  return text + std::string(letters < width ? width - letters : 1, ' ');
}

}  // namespace

std::string to_csv(const GridOutcome& outcome) {
  const Grid& grid = outcome.grid;
  std::string csv =
      "experiment,run,data,group,label,recipe,x,seeds,epsilon_claimed,epsilon_true,epsilon_published,delta";
  for (const GridColumn& column : grid.columns)
    csv += fmt::format(",{0},{0}_error,{0}_paper", quoted(column.measure));
  csv += ",paper_data,settings\n";
  const std::string head = fmt::format("{},{},{}", outcome.facts.experiment,
                                       outcome.facts.quick ? "quick" : "full", quoted(outcome.facts.data));
  for (const TrivialRow& row : outcome.trivial) {
    csv += fmt::format("{},{},{},,,,none,none,none,", head, quoted(row.group), quoted(row.label));
    for (const GridColumn& column : grid.columns) {
      const auto value = row.values.find(column.measure);
      csv += fmt::format(",{},,", value == row.values.end() ? "" : number(value->second));
    }
    csv += ",,\n";
  }
  for (const GridResult& result : outcome.results) {
    const GridRow& row = result.row;
    const EpsilonTexts epsilon = epsilon_texts(result);
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{}", head, quoted(row.group), quoted(row.label),
                       row.recipe, number(row.x), result.runs.size(), quoted(epsilon.claimed),
                       quoted(epsilon.server), quoted(epsilon.published), number(result.mean("delta").mean));
    for (const GridColumn& column : grid.columns) {
      const MeanAndError mean = result.mean(column.measure);
      csv += fmt::format(",{},{},{}", number(mean.mean), number(mean.error),
                         number(paper_value(row, column.measure)));
    }
    std::vector<std::string> settings = row.settings;
    settings.insert(settings.end(), row.at_test.begin(), row.at_test.end());
    csv += fmt::format(",{},{}\n", row.paper.empty() ? "" : quoted(grid.paper_data),
                       quoted(fmt::format("{}", fmt::join(settings, " "))));
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

std::string to_text(const GridOutcome& outcome) {
  constexpr std::size_t label_width = 44, number_width = 16, epsilon_width = 13;
  const Grid& grid = outcome.grid;
  std::string text = outcome.facts.quick ? "QUICK RUN: for a look, not for a claim\n" : "";
  text += padded("", label_width);
  for (const GridColumn& column : grid.columns) text += padded(column.heading, number_width);
  text += padded("ε claimed", epsilon_width) + padded("true ε", epsilon_width) + "published\n";
  const auto label_of = [](const std::string& group, const std::string& label) {
    return group.empty() ? label : group + ": " + label;
  };
  for (const TrivialRow& row : outcome.trivial) {
    text += padded(label_of(row.group, row.label), label_width);
    for (const GridColumn& column : grid.columns) {
      const auto value = row.values.find(column.measure);
      text += padded(value == row.values.end()
                         ? "–"
                         : fmt::format("{:.{}f}", column.factor * value->second, column.decimals),
                     number_width);
    }
    text += "\n";
  }
  for (const GridResult& result : outcome.results) {
    text += padded(label_of(result.row.group, result.row.label), label_width);
    for (const GridColumn& column : grid.columns) {
      const auto [mean, error] = result.mean(column.measure);
      std::string cell =
          std::isfinite(mean) ? fmt::format("{:.{}f}", column.factor * mean, column.decimals) : "–";
      if (std::isfinite(error)) cell += fmt::format(" ± {:.{}f}", column.factor * error, column.decimals);
      text += padded(cell, number_width);
    }
    const EpsilonTexts epsilon = epsilon_texts(result);
    text += padded(epsilon.claimed, epsilon_width) + padded(epsilon.server, epsilon_width) +
            epsilon.published + "\n";
  }
  return text;
}

}  // namespace sotto
