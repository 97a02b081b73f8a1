#include "eval/experiments/grid/run_grid.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/make_folder.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "data/fingerprint.h"
#include "eval/experiments/finished_rows.h"
#include "eval/experiments/grid/grid_report.h"
#include "eval/experiments/grid/side_by_side.h"
#include "eval/experiments/quick_clock.h"
#include "eval/training_run.h"
#include "fl/divergence.h"
#include "fl/round_limit.h"
#include "fl/run_log.h"
#include "model/tensor.h"
#include "recipes/recipe.h"
#include "recipes/stored_run.h"

namespace sotto::eval {

using nlohmann::json;

namespace {

// Test impressions, or test users, of a quick run.
constexpr std::uint64_t quick_tests = 1000;
// More would leave none of them time to train.
constexpr std::int64_t most_quick_seeds = 5;
// Of the two minutes; what stands behind the rows has sizes that do not depend on the data.
constexpr double share_of_rows = 0.95, share_beside_extra = 0.8;

// FNV-1a: names of folders must not change with the compiler.
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return hash;
}

void add_log_measures(json& result, const fs::path& run) {
  constexpr double near_the_best = 0.002;
  const auto records = fl::read_run_log(run / "log.jsonl");
  double best = -1;
  for (const fl::RoundRecord& record : records)
    if (record.validation) best = std::max(best, record.validation->auc);
  if (best < 0) return;
  double bytes = 0;
  for (const fl::RoundRecord& record : records) {
    bytes += static_cast<double>(record.clients) * static_cast<double>(record.bytes_up + record.bytes_down);
    if (!record.validation || record.validation->auc < best - near_the_best) continue;
    result["converged_round"] = record.round;
    if (bytes > 0) result["bytes_to_converge"] = bytes;
    return;
  }
}

// A run that diverged has no result.json: what it came to stands beside its folder.
fs::path divergence_file(const fs::path& run) { return run.string() + ".diverged"; }

// So does that time was up before its last round.
fs::path cut_file(const fs::path& run) { return run.string() + ".cut-short"; }

bool is_over(const fs::path& run) {
  return fs::exists(run / "result.json") || fs::exists(divergence_file(run));
}

// Names what a run was made with; it stands beside the run's folder.
fs::path mark_of(const fs::path& run) { return run.string() + ".made-with"; }
std::string stamp_of(const RowJob& job) { return job.fingerprint + "\n" + job.settings.complete + "\n"; }

bool was_made_alike(const RowJob& job, const fs::path& run) {
  if (!fs::exists(mark_of(run))) return false;
  const auto earlier = read_file(mark_of(run), 1 << 20);
  return earlier && *earlier == stamp_of(job);
}

// The object {"diverged": ROUND, "why": TEXT} where the model diverged.
Result<std::optional<json>> trained(const RowJob& job, const fs::path& run, const data::Dataset& dataset,
                                    const std::function<void(std::uint32_t)>& observe) {
  std::error_code ignored;
  const bool same = was_made_alike(job, run);
  if (same && is_over(run)) {
    const fs::path outcome = fs::exists(run / "result.json") ? run / "result.json" : divergence_file(run);
    SOTTO_TRY(const auto text, read_file(outcome, 1 << 24));
    json result = json::parse(text, nullptr, false);
    if (result.is_object()) return result;
  }
  if (!same || !fs::exists(run / "last.sotto")) {
    fs::remove_all(run, ignored);
    fs::remove(divergence_file(run), ignored);
    SOTTO_CHECK(write_file_atomically(mark_of(run), stamp_of(job)));
  }
  TrainJob training;
  training.recipe = job.row.recipe;
  training.data = job.data;
  training.out = run;
  training.seed = job.seed;
  training.reproducible = true;
  training.device = job.device;
  training.test_impressions = job.test_impressions;
  training.resume = fs::exists(run / "last.sotto");
  fs::remove(cut_file(run), ignored);
  if (!training.resume) training.assignments = job.settings.assignments;
  Status marked;
  const fl::RoundLimit limit([&] {
    if (!job.time_is_up || !job.time_is_up()) return false;
    marked = write_file_atomically(cut_file(run), "the clock of a quick experiment\n");
    return true;
  });
  const auto outcome = train_run(training, dataset, {.round = [&](const fl::RoundRecord& record) {
                                   if (observe) observe(record.round);
                                 }});
  SOTTO_CHECK(marked);
  if (!outcome) {
    const auto round = fl::diverged_round(outcome.error());
    if (!round) return tl::unexpected(Error(outcome.error()));
    const json diverged = {{"diverged", *round}, {"why", outcome.error().message}};
    SOTTO_CHECK(write_file_atomically(divergence_file(run), diverged.dump() + "\n"));
    return diverged;
  }
  if (outcome->summary.interrupted) return std::nullopt;
  return to_json(*outcome);
}

}  // namespace

fs::path run_folder(const RowJob& job) {
  return job.runs / fmt::format("{}-{:08x}-seed{}", job.row.recipe,
                                static_cast<std::uint32_t>(digest(job.settings.complete)), job.seed);
}

Result<std::optional<json>> run_row(const RowJob& job, const data::Dataset& dataset,
                                    const std::function<void(std::uint32_t round)>& observe) {
  SOTTO_CHECK(make_folder(job.runs));
  const fs::path run = run_folder(job);
  SOTTO_TRY(auto result, trained(job, run, dataset, observe));
  if (!result || result->contains("diverged")) return result;
  if (!job.row.at_test.empty()) {
    SOTTO_TRY(
        const auto tested,
        evaluate_run({.run = run, .assignments = job.row.at_test, .test_impressions = job.test_impressions},
                     dataset));
    if (const auto* held_out = std::get_if<metrics::HeldOutReport>(&tested))
      result->update(to_json(*held_out));
    else
      result->update(to_json(std::get<metrics::MeanImpressionMetrics>(tested)));
  }
  if (fs::exists(cut_file(run)))
    result->update({{"stopped_after", result->at("rounds")},
                    {"rounds_planned", json::parse(job.settings.complete).at("rounds")}});
  add_log_measures(*result, run);
  (*result)["bytes"] = result->at("bytes_up").get<double>() + result->at("bytes_down").get<double>();
  return result;
}

namespace {

// What rows were made with.
json made_with(const data::Dataset& dataset, const ExperimentRequest& request) {
  return {{"data", dataset.name()},
          {"fingerprint", data::fingerprint(dataset)},
          {"quick", request.quick},
          {"device", request.device}};
}

// Everything a finished row depends on beside the data.
std::string row_key(const GridRow& row, const RowSettings& settings, std::uint64_t seed) {
  return json{
      {"recipe", row.recipe}, {"settings", settings.complete}, {"at_test", row.at_test}, {"seed", seed}}
      .dump();
}

// What `--first-seed` and `--seeds` ask for.
std::vector<std::uint64_t> asked_seeds(const ExperimentRequest& request) {
  std::vector<std::uint64_t> seeds(static_cast<std::size_t>(request.seeds));
  std::iota(seeds.begin(), seeds.end(), static_cast<std::uint64_t>(request.first_seed));
  return seeds;
}

// Seeds before those asked for of which a row was finished, whichever settings it had.
std::vector<std::uint64_t> earlier_seeds(const FinishedRows& finished, std::int64_t first_seed) {
  std::set<std::uint64_t> seeds;
  for (const std::string& key : finished.keys()) {
    const json parsed = json::parse(key, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("seed") || !parsed["seed"].is_number_unsigned()) continue;
    const auto seed = parsed["seed"].get<std::uint64_t>();
    if (seed < static_cast<std::uint64_t>(first_seed)) seeds.insert(seed);
  }
  return {seeds.begin(), seeds.end()};
}

class GridRunner {
 public:
  GridRunner(const Grid& grid, std::string_view name, const ExperimentRequest& request,
             const data::Dataset& dataset, json made_with, FinishedRows finished)
      : grid_(grid),
        name_(name),
        request_(request),
        dataset_(dataset),
        made_with_(std::move(made_with)),
        finished_(std::move(finished)),
        asked_(asked_seeds(request)) {
    if (request.quick) clock_.emplace(request.now, grid.extra ? share_beside_extra : share_of_rows);
  }

  Status prepare() {
    for (const GridRow& row : grid_.rows) {
      results_.push_back({row, {}});
      SOTTO_TRY(auto settings, row_settings(grid_, row, request_.assignments));
      settings_.push_back(std::move(settings));
    }
    return make_folder(request_.out / "runs");
  }

  // Trains what nobody else is training, then tests what nobody else is testing.
  Status work() {
    SOTTO_CHECK(for_each_unclaimed([](const RowJob& job) { return run_folder(job); },
                                   [&](RowJob& job) -> Status {
                                     share_time(job, (untrained() + request_.jobs - 1) / request_.jobs);
                                     SOTTO_TRY(const auto run, trained(job, run_folder(job), dataset_, {}));
                                     (void)run;
                                     return {};
                                   }));
    return for_each_unclaimed(
        [](const RowJob& job) {
          const std::string test = nlohmann::json(job.row.at_test).dump();
          return fs::path(
              fmt::format("{}-{:08x}", run_folder(job).string(), static_cast<std::uint32_t>(digest(test))));
        },
        [&](RowJob& job) -> Status {
          // Somebody may still be training it: the process that waits for all of them tests it then.
          if (!is_over(run_folder(job))) return {};
          SOTTO_TRY(const auto result, run_row(job, dataset_, {}));
          if (!result) return {};
          return finished_.add(row_key(job.row, job.settings, job.seed), *result);
        });
  }

  // All runs by several processes; run() then finds them finished.
  Status train_side_by_side() {
    std::set<fs::path> runs;
    for (const std::uint64_t seed : asked_)
      for (std::size_t i = 0; i < grid_.rows.size(); ++i) {
        const RowJob job = job_of(i, seed);
        if (!finished_.find(row_key(job.row, job.settings, job.seed))) runs.insert(run_folder(job));
      }
    if (runs.empty()) return {};
    Progress progress(fmt::format("{}, {} processes", name_, request_.jobs), runs.size(), "runs");
    SOTTO_CHECK(run_workers(request_.worker_command, request_.jobs, request_.out, [&] {
      progress.set(static_cast<std::uint64_t>(
          std::count_if(runs.begin(), runs.end(), [](const fs::path& run) { return is_over(run); })));
    }));
    SOTTO_TRY(finished_, FinishedRows::open(request_.out / "rows.jsonl", made_with_));
    return {};
  }

  // False when it was interrupted. What is finished is in results() either way, also of the rows behind the
  // one at which it was stopped.
  Result<bool> run() {
    join_earlier_seeds();
    Progress progress(std::string(name_), grid_.rows.size() * asked_.size(), "runs");
    bool complete = true;
    for (const std::uint64_t seed : asked_) {
      for (std::size_t i = 0; i < grid_.rows.size(); ++i) {
        SOTTO_TRY(const bool done, run_one(i, seed, progress));
        if (done)
          progress.advance();
        else
          complete = false;
      }
    }
    return complete;
  }

  // How many seeds the table is of.
  std::int64_t seeds() const { return static_cast<std::int64_t>(asked_.size() + joined_); }
  bool is_out_of_time() const { return clock_ && clock_->is_over(); }

  // Rows that failed: one does not stop the others.
  const std::vector<std::string>& failures() const { return failures_; }

  // Rows without a finished seed are left out.
  std::vector<GridResult> results() && {
    std::erase_if(results_,
                  [](const GridResult& result) { return result.runs.empty() && result.diverged.empty(); });
    return std::move(results_);
  }

 private:
  RowJob job_of(std::size_t index, std::uint64_t seed) const {
    return {grid_.rows[index],
            settings_[index],
            seed,
            request_.data,
            request_.out / "runs",
            request_.device,
            made_with_.dump(),
            request_.quick ? quick_tests : 0,
            {}};
  }

  // Rows and seeds that are still to be made.
  std::int64_t unfinished() const {
    std::int64_t count = 0;
    for (const std::uint64_t seed : asked_)
      for (std::size_t i = 0; i < grid_.rows.size(); ++i)
        if (!finished_.find(row_key(grid_.rows[i], settings_[i], seed))) ++count;
    return count;
  }

  // Runs that nobody has finished; others train some of them now.
  std::int64_t untrained() const {
    std::set<fs::path> runs;
    for (const std::uint64_t seed : asked_)
      for (std::size_t i = 0; i < grid_.rows.size(); ++i)
        if (const fs::path run = run_folder(job_of(i, seed)); !is_over(run)) runs.insert(run);
    return static_cast<std::int64_t>(runs.size());
  }

  void share_time(RowJob& job, std::int64_t rows_left) const {
    if (clock_) job.time_is_up = clock_->training_of_one_of(static_cast<std::size_t>(rows_left));
  }

  Status for_each_unclaimed(const std::function<fs::path(const RowJob&)>& claimed,
                            const std::function<Status(RowJob&)>& action) {
    for (const std::uint64_t seed : asked_) {
      for (std::size_t i = 0; i < grid_.rows.size(); ++i) {
        if (interrupted() || is_out_of_time()) return {};
        RowJob job = job_of(i, seed);
        if (finished_.find(row_key(job.row, job.settings, job.seed))) continue;
        SOTTO_TRY(const auto claim, Claim::take(claimed(job)));
        if (!claim) continue;
        // The process that collects the rows meets the same error and reports it.
        if (const Status done = action(job); !done) warn("{}: {}", job.row.label, done.error().message);
      }
    }
    return {};
  }

  // Neither training nor testing is left to do.
  static bool is_stored(const RowJob& job) {
    const fs::path run = run_folder(job);
    return job.row.at_test.empty() && is_over(run) && was_made_alike(job, run);
  }

  // False when it is not finished and a stop forbids to finish it.
  Result<bool> run_one(std::size_t index, std::uint64_t seed, Progress& progress) {
    const GridRow& row = grid_.rows[index];
    RowJob job = job_of(index, seed);
    const std::string key = row_key(row, settings_[index], seed);
    auto result = finished_.find(key);
    if (!result) {
      if ((interrupted() || is_out_of_time()) && !is_stored(job)) return false;
      share_time(job, unfinished());
      auto run = run_row(job, dataset_, [&](std::uint32_t round) {
        progress.note(fmt::format("{}, round {}", row.label, round));
      });
      if (interrupted() && !run) return false;
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
    collect(index, job, *result);
    return true;
  }

  // What was finished before with other seeds and is still asked for.
  void join_earlier_seeds() {
    for (const std::uint64_t seed : earlier_seeds(finished_, request_.first_seed)) {
      bool joined = false;
      for (std::size_t i = 0; i < grid_.rows.size(); ++i) {
        const auto result = finished_.find(row_key(grid_.rows[i], settings_[i], seed));
        if (!result) continue;
        collect(i, job_of(i, seed), *result);
        joined = true;
      }
      if (joined) ++joined_;
    }
  }

  void collect(std::size_t index, const RowJob& job, const json& result) {
    const GridRow& row = grid_.rows[index];
    if (result.contains("diverged")) {
      results_[index].diverged.push_back(result.at("diverged").get<std::uint32_t>());
    } else {
      add_measures(results_[index], result);
      results_[index].runs.push_back(run_folder(job));
      results_[index].seeds.push_back(job.seed);
    }
    if (!request_.event) return;
    json event = result;
    event.update({{"event", "row"},
                  {"experiment", name_},
                  {"group", row.group},
                  {"label", row.label},
                  {"recipe", row.recipe},
                  {"seed", job.seed},
                  {"quick", request_.quick}});
    request_.event(event);
  }

  const Grid& grid_;
  std::string_view name_;
  const ExperimentRequest& request_;
  const data::Dataset& dataset_;
  json made_with_;
  FinishedRows finished_;
  std::vector<std::uint64_t> asked_;
  std::size_t joined_ = 0;  // seeds before them that the table has too
  std::vector<RowSettings> settings_;
  std::vector<GridResult> results_;
  std::vector<std::string> failures_;
  std::optional<QuickClock> clock_;  // of a quick experiment
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

GridContext context_of(const data::Dataset& dataset, const ExperimentRequest& request) {
  const auto counts = dataset.counts();
  return {request.quick,
          dataset.name(),
          counts.users,
          counts.items,
          request.assignments,
          static_cast<double>(counts.clicks) / static_cast<double>(std::max<std::uint64_t>(counts.users, 1))};
}

namespace {

// A command that is refused leaves no folder behind: what is empty at the end, and was not there, goes.
class NewFolders {
 public:
  explicit NewFolders(fs::path out) : out_(std::move(out)), was_there_(fs::exists(out_)) {}
  ~NewFolders() {
    std::error_code not_empty;
    fs::remove(out_ / "runs", not_empty);
    if (!was_there_) fs::remove(out_, not_empty);
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

 private:
  fs::path out_;
  bool was_there_;
};

}  // namespace

Result<ExperimentResult> run_grid(const Grid& grid, std::string_view name, const ExperimentRequest& request,
                                  const data::Dataset& dataset) {
  SOTTO_CHECK(check_grid(grid, request.assignments));
  if (request.quick && request.seeds > most_quick_seeds)
    return bad_input(
        "--seeds {} --quick: two minutes hold at most {} seeds; ask for fewer, or leave out --quick",
        request.seeds, most_quick_seeds);
  SOTTO_CHECK(recipes::check_results_folder(request.out));
  const NewFolders folders(request.out);
  SOTTO_CHECK(make_folder(request.out));
  if (request.worker) set_thread_count(std::max(1, thread_count() / request.jobs));
  model::prepare_torch();
  const json fingerprint = made_with(dataset, request);
  SOTTO_TRY(auto finished, FinishedRows::open(request.out / "rows.jsonl", fingerprint));
  GridRunner runner(grid, name, request, dataset, fingerprint, std::move(finished));
  SOTTO_CHECK(runner.prepare());
  if (request.worker) {
    SOTTO_CHECK(runner.work());
    return ExperimentResult{.text = {}, .files = {}, .interrupted = interrupted()};
  }
  if (request.jobs > 1) SOTTO_CHECK(runner.train_side_by_side());
  SOTTO_TRY(const bool complete, runner.run());

  ExperimentResult result;
  result.failures = runner.failures();
  GridExtra extra;
  if (grid.extra && complete) {
    auto made = grid.extra(dataset);
    if (!made && !interrupted()) return tl::unexpected(std::move(made).error());
    if (made) extra = std::move(*made);
    result.interrupted = !made;
  }
  if (!complete) (interrupted() ? result.interrupted : result.out_of_time) = true;
  GridOutcome outcome{
      grid,
      {std::string(name), dataset.name(), dataset.origin(), request.device, dataset.counts(), runner.seeds(),
       request.quick, result.interrupted || result.out_of_time, result.out_of_time},
      std::move(runner).results(),
      {},
      std::move(extra),
      result.failures};
  if (!interrupted())
    outcome.trivial = trivial_rows(dataset, request.data, outcome.results, request.quick ? quick_tests : 0);
  if (grid.tables) {
    for (auto& table : grid.tables(outcome.results)) outcome.extra.tables.push_back(std::move(table));
  }
  SOTTO_TRY(result.files, write_outcome(request.out, outcome));
  result.text = to_text(outcome);
  return result;
}

}  // namespace sotto::eval
