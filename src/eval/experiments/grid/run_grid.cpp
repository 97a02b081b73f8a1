#include "eval/experiments/grid/run_grid.h"

#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "eval/experiments/finished_rows.h"
#include "eval/experiments/grid/grid_report.h"
#include "eval/experiments/grid/row_run.h"
#include "model/blas_check.h"

namespace sotto {

using nlohmann::json;

namespace {

// The data that rows were made with: its counts change whenever it is made again differently.
json data_fingerprint(const Dataset& dataset, const ExperimentRequest& request) {
  const DatasetCounts counts = dataset.counts();
  return {{"data", dataset.name()},
          {"origin", dataset.origin()},
          {"users", counts.users},
          {"items", counts.items},
          {"impressions", counts.impressions},
          {"interactions", counts.interactions},
          {"clicks", counts.clicks},
          {"quick", request.quick},
          {"device", request.device}};
}

// Everything a finished row depends on beside the data.
std::string row_key(const GridRow& row, const RowSettings& settings, std::uint64_t seed) {
  return json{
      {"recipe", row.recipe}, {"settings", settings.complete}, {"at_test", row.at_test}, {"seed", seed}}
      .dump();
}

class GridRunner {
 public:
  GridRunner(const Grid& grid, std::string_view name, const ExperimentRequest& request,
             const Dataset& dataset, FinishedRows finished)
      : grid_(grid), name_(name), request_(request), dataset_(dataset), finished_(std::move(finished)) {}

  // False when it was interrupted; what is finished is in results() either way.
  Result<bool> run() {
    for (const GridRow& row : grid_.rows) {
      results_.push_back({row, {}, {}});
      SOTTO_TRY(auto settings, row_settings(grid_, row, request_.assignments));
      settings_.push_back(std::move(settings));
    }
    Progress progress(std::string(name_), grid_.rows.size() * static_cast<std::uint64_t>(request_.seeds),
                      "runs");
    for (std::int64_t seed = 1; seed <= request_.seeds; ++seed) {
      for (std::size_t i = 0; i < grid_.rows.size(); ++i) {
        if (interrupted()) return false;
        SOTTO_TRY(const bool done, run_one(i, static_cast<std::uint64_t>(seed), progress));
        if (!done) return false;
        progress.advance();
      }
    }
    return true;
  }

  // Rows that failed, for example because the loss did not stay a number: one does not stop the others.
  const std::vector<std::string>& failures() const { return failures_; }

  // Rows without a finished seed are left out.
  std::vector<GridResult> results() && {
    std::erase_if(results_, [](const GridResult& result) { return result.runs.empty(); });
    return std::move(results_);
  }

 private:
  Result<bool> run_one(std::size_t index, std::uint64_t seed, Progress& progress) {
    const GridRow& row = grid_.rows[index];
    const RowJob job{row,
                     settings_[index],
                     seed,
                     request_.data,
                     request_.out / "runs",
                     request_.device,
                     data_fingerprint(dataset_, request_).dump()};
    const std::string key = row_key(row, settings_[index], seed);
    auto result = finished_.find(key);
    if (!result) {
      auto run = run_row(job, dataset_, [&](std::uint32_t round) {
        progress.note(fmt::format("{}, round {}", row.label, round));
      });
      if (!run) {
        Error error = std::move(run).error().in(row.label);
        if (error.kind == ErrorKind::bad_input) return tl::unexpected(std::move(error));
        warn("{}", error.message);
        failures_.push_back(std::move(error.message));
        return true;
      }
      if (!*run) return false;
      result = std::move(*run);
      SOTTO_CHECK(finished_.add(key, *result));
    }
    add_measures(results_[index], *result);
    results_[index].runs.push_back(run_folder(job));
    if (!request_.event) return true;
    json event = *result;
    event.update({{"event", "row"},
                  {"experiment", name_},
                  {"group", row.group},
                  {"label", row.label},
                  {"recipe", row.recipe},
                  {"seed", seed},
                  {"quick", request_.quick}});
    request_.event(event);
    return true;
  }

  const Grid& grid_;
  std::string_view name_;
  const ExperimentRequest& request_;
  const Dataset& dataset_;
  FinishedRows finished_;
  std::vector<RowSettings> settings_;
  std::vector<GridResult> results_;
  std::vector<std::string> failures_;
};

Result<std::vector<fs::path>> write_outcome(const fs::path& out, const GridOutcome& outcome) {
  std::vector<std::pair<std::string, std::string>> contents = {{"results.csv", to_csv(outcome)}};
  for (const GridPlot& plot : outcome.grid.plots)
    contents.emplace_back(plot.file + ".svg", to_svg(to_plot(plot, outcome)));
  for (const auto& [file, plot] : outcome.extra.plots) contents.emplace_back(file + ".svg", to_svg(plot));
  for (const auto& extra : outcome.extra.tables)
    contents.emplace_back(extra.file + ".csv", to_csv(extra.table));
  contents.emplace_back("report.html", to_html(outcome));
  std::vector<fs::path> files;
  for (const auto& [file, text] : contents) {
    SOTTO_CHECK(write_file_atomically(out / file, text));
    files.push_back(out / file);
  }
  return files;
}

}  // namespace

GridContext context_of(const Dataset& dataset, const ExperimentRequest& request) {
  return {request.quick, dataset.name(), dataset.user_count(), dataset.item_count(), request.assignments};
}

Result<ExperimentResult> run_grid(const Grid& grid, std::string_view name, const ExperimentRequest& request,
                                  const Dataset& dataset) {
  SOTTO_CHECK(check_grid(grid, request.assignments));
  std::error_code error;
  fs::create_directories(request.out, error);
  if (error) return failed("cannot create {}: {}", request.out.string(), error.message());
  prepare_torch();
  SOTTO_TRY(auto finished,
            FinishedRows::open(request.out / "rows.jsonl", data_fingerprint(dataset, request)));
  GridRunner runner(grid, name, request, dataset, std::move(finished));
  SOTTO_TRY(const bool complete, runner.run());

  ExperimentResult result;
  result.interrupted = !complete;
  result.failures = runner.failures();
  GridOutcome outcome{grid,
                      {std::string(name), dataset.name(), dataset.origin(), request.device, dataset.counts(),
                       request.seeds, request.quick},
                      std::move(runner).results(),
                      {},
                      {},
                      result.failures};
  outcome.trivial = trivial_rows(dataset, request.data, outcome.results);
  if (grid.extra && complete) {
    SOTTO_TRY(outcome.extra, grid.extra(dataset));
  }
  SOTTO_TRY(result.files, write_outcome(request.out, outcome));
  result.text = to_text(outcome);
  return result;
}

}  // namespace sotto
