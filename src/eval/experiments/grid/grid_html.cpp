// The HTML report of a grid.

#include "eval/experiments/grid/grid_report.h"
#include "eval/experiments/quick_clock.h"

namespace sotto::eval {

namespace {

const PaperNumber* paper_number(const GridRow& row, const std::string& measure) {
  for (const PaperNumber& known : row.paper)
    if (known.measure == measure) return &known;
  return nullptr;
}

bool any_paper_number(const Grid& grid, const std::string& measure) {
  for (const GridRow& row : grid.rows)
    if (paper_number(row, measure) != nullptr) return true;
  return false;
}

TableCell mean_cell(const GridColumn& column, const MeanAndError& mean) {
  if (!std::isfinite(mean.mean)) return TableCell::words("–");
  std::string text = fmt::format("{:.{}f}", column.factor * mean.mean, column.decimals);
  if (std::isfinite(mean.error))
    text += fmt::format(" ± {:.{}f}", column.factor * mean.error, column.decimals);
  return {text, column.factor * mean.mean};
}

ReportTable grid_table(const GridOutcome& outcome) {
  const Grid& grid = outcome.grid;
  ReportTable table;
  bool groups = false;
  for (const GridRow& row : grid.rows) groups = groups || !row.group.empty();
  if (groups) table.columns.push_back({"", Better::neither});
  table.columns.push_back({"row", Better::neither});
  for (const GridColumn& column : grid.columns) {
    table.columns.push_back({column.heading, Better::neither});
    if (any_paper_number(grid, column.measure))
      table.columns.push_back({column.heading + ", paper", Better::neither});
  }
  for (const char* heading : {"ε claimed", "true ε, server", "true ε, published"})
    table.columns.push_back({heading, Better::neither});

  const auto start = [&](const std::string& group, const std::string& label) {
    std::vector<TableCell> cells;
    if (groups) cells.push_back(TableCell::words(group));
    cells.push_back(TableCell::words(label));
    return cells;
  };
  for (const TrivialRow& row : outcome.trivial) {
    auto cells = start(row.group, row.label);
    for (const GridColumn& column : grid.columns) {
      const auto value = row.values.find(column.measure);
      cells.push_back(value == row.values.end() ? TableCell::words("–")
                                                : mean_cell(column, {value->second, NAN}));
      if (any_paper_number(grid, column.measure)) cells.push_back(TableCell::words(""));
    }
    table.rows.push_back(std::move(cells));
  }
  for (const GridResult& result : outcome.results) {
    const bool below = is_below_popularity(result, outcome.trivial).value_or(false);
    auto cells = start(result.row.group, result.row.label + (below ? below_popularity_mark : ""));
    for (const GridColumn& column : grid.columns) {
      const bool first = &column == grid.columns.data();
      cells.push_back(first && result.has_diverged() ? TableCell::words(result.divergence())
                                                     : mean_cell(column, result.mean(column.measure)));
      if (!any_paper_number(grid, column.measure)) continue;
      const auto* paper = paper_number(result.row, column.measure);
      cells.push_back(paper == nullptr ? TableCell::words("")
                                       : TableCell::number(column.factor * paper->value, column.decimals));
    }
    const EpsilonTexts epsilon = epsilon_texts(result);
    for (const auto& text : {epsilon.claimed, epsilon.server, epsilon.published})
      cells.push_back(TableCell::words(text));
    table.rows.push_back(std::move(cells));
  }
  table.caption = outcome.facts.seeds == 1
                      ? "One seed: no standard errors. --seeds 5 gives them."
                      : fmt::format("Mean ± standard error over {} seeds.", outcome.facts.seeds);
  return table;
}

std::string settings_text(const GridOutcome& outcome) {
  std::string text = fmt::format("all rows, where the recipe has the setting:\n  {}\n\n",
                                 fmt::join(outcome.grid.shared, "\n  "));
  for (const GridResult& result : outcome.results) {
    text += fmt::format("{}{}{}: {}\n", result.row.group, result.row.group.empty() ? "" : ", ",
                        result.row.label, result.row.recipe);
    for (const auto& assignment : result.row.settings) text += fmt::format("  {}\n", assignment);
    for (const auto& assignment : result.row.at_test) text += fmt::format("  when tested: {}\n", assignment);
    for (const auto& run : result.runs) text += fmt::format("  run: {}\n", run.string());
  }
  return text;
}

}  // namespace

std::string to_html(const GridOutcome& outcome) {
  const Grid& grid = outcome.grid;
  const GridFacts& facts = outcome.facts;
  HtmlReport report(grid.title + (facts.quick ? " (quick run)" : ""),
                    facts.quick ? "QUICK RUN: narrow models, few rounds; for a look, not for a claim" : "");
  if (facts.quick) report.paragraph(fmt::format("Quick: {}.", quick_clock_note));
  report.facts({{"experiment", facts.experiment},
                {"data", fmt::format("{} ({})", facts.data, facts.origin)},
                {"users, items", fmt::format("{}, {}", facts.counts.users, facts.counts.items)},
                {"seeds", std::to_string(facts.seeds)},
                {"computed on", facts.device}});
  if (const std::string note = incompleteness_note(outcome); !note.empty())
    report.paragraph(note + "; the same command goes on.");
  report.paragraph(grid.about);
  bool paper = false;
  for (const GridRow& row : grid.rows) paper = paper || !row.paper.empty();
  if (paper && !is_paper_data(grid, facts.data, facts.counts.users))
    report.paragraph(
        fmt::format("The paper's numbers are of another data set ({}): compare the order of rows and the "
                    "distances between them, not the values.",
                    grid.paper_data));
  if (grid.verdict) report.heading("What came out").paragraph(grid.verdict(outcome.results));
  for (const GridPlot& plot : grid.plots) report.plot(to_plot(plot, outcome));
  report.heading("Results").table(grid_table(outcome));
  if (const std::string note = popularity_note(outcome); !note.empty()) report.paragraph(note + ".");
  for (const std::string& note : row_notes(outcome)) report.paragraph(note + ".");
  for (const std::string& failure : outcome.failures) report.paragraph("Failed: " + failure);
  report.privacy_note(
      "ε claimed is what the paper says. True ε is what holds for one user and the whole training at the δ "
      "of the run: against the server, which sees who takes part, and of what is published. A query's ε is "
      "for one query and the whole history. 'none': no differential privacy holds. " +
      simulation_note(outcome));
  if (!outcome.extra.note.empty() || !outcome.extra.tables.empty()) report.heading("Beside the runs");
  if (!outcome.extra.note.empty()) report.paragraph(outcome.extra.note);
  for (const auto& [file, plot] : outcome.extra.plots) report.plot(plot);
  for (const auto& extra : outcome.extra.tables) report.table(extra.table);
  report.details("Settings and runs",
                 [&](ReportSection& section) { section.preformatted(settings_text(outcome)); });
  return report.html();
}

}  // namespace sotto::eval
