#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/make_folder.h"
#include "base/progress.h"
#include "base/settings.h"
#include "eval/experiments/finished_rows.h"
#include "eval/experiments/paper_experiments.h"
#include "eval/experiments/quick_clock.h"
#include "eval/experiments/serving/serving_report.h"
#include "eval/training_run.h"
#include "fl/round_limit.h"
#include "fl/run_log.h"
#include "model/tensor.h"
#include "recipes/run_data.h"

namespace sotto::eval {

using namespace private_serving;

namespace {

// Of the two minutes of a quick experiment, the training is one part of two.
constexpr std::size_t quick_parts = 2;
constexpr std::int64_t quick_rounds = 40, full_rounds = 300;
constexpr std::uint64_t most_devices_in_a_round = 300;

// The paper's news model, narrow, trained by federated rounds.
Status train_narrow_model(const ExperimentRequest& request, const data::Dataset& dataset, const fs::path& run,
                          const std::optional<QuickClock>& clock) {
  TrainJob job;
  job.recipe = "fedrec";
  job.data = request.data;
  job.out = run;
  job.device = request.device;
  job.reproducible = true;
  job.rounds = request.quick ? quick_rounds : full_rounds;
  job.resume = fs::exists(run / "last.sotto");
  if (!job.resume) {
    std::error_code ignored;
    fs::remove_all(run, ignored);  // begun, but without a checkpoint
    // Half of a data set smaller than that: not everybody has something to train on.
    const std::uint64_t cohort =
        std::clamp<std::uint64_t>(dataset.user_count() / 2, 1, most_devices_in_a_round);
    job.assignments = {"word_size=64",
                       "heads=4",
                       "head_size=16",
                       "pooling_size=32",
                       "word_scale=0.3",
                       "start=identity",
                       "learning_rate=0.01",
                       "halve_every=100",
                       "evaluate_every=20",
                       "checkpoint_every=20",
                       "validation_impressions=500",
                       fmt::format("cohort={}", cohort)};
  }
  const fl::RoundLimit limit(clock ? clock->training_of_one_of(quick_parts) : nullptr);
  Progress progress("training", static_cast<std::uint64_t>(*job.rounds), "rounds");
  SOTTO_TRY(const auto outcome,
            train_run(job, dataset,
                      {.round = [&](const fl::RoundRecord& record) { progress.set(record.round); },
                       .trained = [&] { progress.finish(); }}));
  if (outcome.summary.interrupted) return failed("stopped while training; the same command goes on");
  return {};
}

nlohmann::json fingerprint(const ExperimentRequest& request, const fs::path& run, const ToldBefore& before,
                           const SettingsTable& table) {
  std::error_code ignored;
  const auto trained = fs::last_write_time(run / "best.sotto", ignored).time_since_epoch().count();
  return {{"data", request.data.string()},
          {"run", run.string()},
          {"trained", trained},
          {"settings", table.to_json()},
          {"seeds", request.seeds},
          {"quick", request.quick},
          {"demand_charged", before.demand_charged},
          {"training_epsilon",
           before.training_epsilon ? nlohmann::json(*before.training_epsilon) : nlohmann::json(nullptr)}};
}

Result<std::vector<fs::path>> write_results(const fs::path& out, const std::vector<ServingRow>& rows,
                                            const ServingFacts& facts) {
  const std::vector<std::pair<std::string, std::string>> contents = {
      {"serving-epsilon.csv", to_csv(rows, facts)},
      {"serving-epsilon.svg",
       to_svg(share_plot(rows, "auc_share",
                         fmt::format("Gain kept by the server alone{}", facts.quick ? " (quick run)" : "")))},
      {"serving-epsilon-reranked.svg",
       to_svg(share_plot(
           rows, "reranked_score10_share",
           fmt::format("Gain kept with re-ranking on the device{}", facts.quick ? " (quick run)" : "")))},
      {"report.html", serving_report(rows, facts)}};
  std::vector<fs::path> files;
  for (const auto& [file, text] : contents) {
    SOTTO_CHECK(write_file_atomically(out / file, text));
    files.push_back(out / file);
  }
  return files;
}

}  // namespace

Result<ExperimentResult> run_serving_epsilon(const ExperimentRequest& request) {
  ServingPlan plan = request.quick ? ServingPlan::quick() : ServingPlan::full();
  SettingsTable table;
  plan.bind(table);
  for (const auto& assignment : request.assignments) SOTTO_CHECK(table.set_assignment(assignment));
  std::optional<QuickClock> clock;
  if (request.quick) clock.emplace(request.now);
  SOTTO_TRY(const auto stored, data::Dataset::open(request.data));
  SOTTO_CHECK(make_folder(request.out));
  model::prepare_torch();
  const fs::path run = request.run.empty() ? request.out / "run" : request.run;
  if (request.run.empty() && !fs::exists(run / "result.json"))
    SOTTO_CHECK(train_narrow_model(request, stored, run, clock));

  SOTTO_TRY(const ToldBefore before, ToldBefore::of(run, plan.scene.readers.demand_epsilon));
  SOTTO_TRY(const auto dataset, recipes::data_of_run(run, stored));
  SOTTO_TRY(const auto scene, load_scene(run, stored, plan.scene, 1));
  SOTTO_TRY(const auto measured,
            ServingTable::create(dataset, scene,
                                 {.pool_queries = static_cast<std::size_t>(plan.pool_queries),
                                  .answer = static_cast<std::size_t>(plan.answer),
                                  .seeds = request.seeds,
                                  .told_before = before}));
  SOTTO_TRY(auto finished,
            FinishedRows::open(request.out / "rows.jsonl", fingerprint(request, run, before, table)));
  const auto choices = plan.choices(compared_mechanisms(), request.quick);
  std::vector<ServingRow> rows;
  ExperimentResult result;
  Progress progress("mechanisms", choices.size(), "rows");
  for (const MechanismChoice& choice : choices) {
    const std::string key = key_of(choice);
    if (!finished.find(key)) {
      if (interrupted() || (clock && clock->is_over())) {
        (interrupted() ? result.interrupted : result.out_of_time) = true;
        break;
      }
      SOTTO_TRY(const auto row, measured.measure(choice));
      SOTTO_CHECK(finished.add(key, to_json(row)));
    }
    SOTTO_TRY(auto row, row_of(*finished.find(key)));
    rows.push_back(std::move(row));
    if (request.event) {
      auto event = to_json(rows.back());
      event["quick"] = request.quick;
      event["simulation"] = simulation_note(before);
      request.event(event);
    }
    progress.advance();
  }
  progress.finish();
  const bool own = request.run.empty();
  const ServingFacts facts{
      .data = fmt::format("{} ({})", dataset.name(), dataset.origin()),
      .run = run.string(),
      .items = dataset.item_count(),
      .queries = scene.impressions.size(),
      .pool_queries = measured.pool_queries(),
      .readers = scene.readers.size(),
      .answer = static_cast<std::size_t>(plan.answer),
      .seeds = request.seeds,
      .told_before = before,
      .quick = request.quick,
      .rounds = own ? fl::read_run_log(run / "log.jsonl").size() : 0,
      .rounds_planned = own ? static_cast<std::size_t>(request.quick ? quick_rounds : full_rounds) : 0,
      .rows_left_out = choices.size() - rows.size()};
  SOTTO_TRY(result.files, write_results(request.out, rows, facts));
  result.text = to_text(rows, facts);
  return result;
}

}  // namespace sotto::eval
