// Tables 3 and 4 of DP-PrivRec: the ε that the paper prints, reproduced, and what the same mechanism really
// costs.

#include <map>
#include <nlohmann/json.hpp>

#include "eval/experiments/grid/grid_report.h"
#include "eval/experiments/paper_experiments.h"
#include "privacy/accounting/claims.h"

namespace sotto::eval {

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
  std::error_code error;
  fs::create_directories(request.out, error);
  if (error) return failed("cannot create {}: {}", request.out.string(), error.message());
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
