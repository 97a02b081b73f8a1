#include "eval/training_run.h"

#include <nlohmann/json.hpp>

#include "eval/interaction_evaluator.h"
#include "eval/recommender_evaluator.h"
#include "recipes/run_data.h"

namespace sotto::eval {

using nlohmann::json;

namespace {

// A flag that only some recipes have.
Status set_if_known(SettingsTable& table, const recipes::RecipeEntry& entry, const char* name,
                    const std::string& value) {
  if (value.empty()) return {};
  for (const auto& row : table.rows())
    if (row.name == name) return table.set(name, value);
  return bad_input("{} has no {}: {}", entry.name, name,
                   entry.differentially_private ? "see 'sotto recipes' for its settings"
                                                : "it gives no differential privacy");
}

Result<recipes::StoredRun> prepare(const TrainJob& job) {
  if (job.resume) {
    SOTTO_TRY(auto prepared, recipes::load_run(job.out));
    if (job.recipe != prepared.entry->name)
      return bad_input("{} is a run of {}, not of {}", job.out.string(), prepared.entry->name, job.recipe);
    if (!job.assignments.empty() || !job.config.empty() || !job.mode.empty() || !job.epsilon.empty())
      return bad_input("a resumed run keeps its settings; only --rounds may change");
    if (job.reproducible && !prepared.reproducible)
      return bad_input(
          "{} has drawn secret noise so far, and a run is one or the other: leave out --reproducible, or "
          "start a simulation in another --out",
          job.out.string());
    if (job.rounds) SOTTO_CHECK(prepared.table.set("rounds", std::to_string(*job.rounds)));
    if (!fs::exists(job.out / "last.sotto"))
      return bad_input("{} has no checkpoint yet: remove it and start again without --resume",
                       job.out.string());
    return prepared;
  }
  recipes::StoredRun prepared;
  SOTTO_TRY(prepared.entry, recipes::find_recipe(job.recipe));
  if (fs::exists(job.out) && (!fs::is_directory(job.out) || !fs::is_empty(job.out)))
    return bad_input("{} exists: choose another --out, or continue it with --resume", job.out.string());
  prepared.recipe = prepared.entry->make();
  auto choices = job.assignments;
  if (!job.mode.empty()) choices.push_back("mode=" + job.mode);
  SOTTO_CHECK(recipes::bind_settings(*prepared.recipe, prepared.table, choices, job.config));
  if (!job.config.empty()) SOTTO_CHECK(prepared.table.load_toml(job.config));
  for (const auto& assignment : job.assignments) SOTTO_CHECK(prepared.table.set_assignment(assignment));
  if (job.rounds) SOTTO_CHECK(prepared.table.set("rounds", std::to_string(*job.rounds)));
  SOTTO_CHECK(set_if_known(prepared.table, *prepared.entry, "mode", job.mode));
  SOTTO_CHECK(set_if_known(prepared.table, *prepared.entry, "epsilon", job.epsilon));
  SOTTO_CHECK(recipes::refuse_unread(prepared.table, prepared.recipe->conditions()));
  prepared.seed = job.seed;
  prepared.device = job.device;
  prepared.reproducible = job.reproducible;
  return prepared;
}

}  // namespace

Result<std::int64_t> planned_rounds(const TrainJob& job) {
  SOTTO_TRY(const auto prepared, prepare(job));
  return prepared.table.to_json().at("rounds").get<std::int64_t>();
}

Result<recipes::TrainOutcome> train_run(const TrainJob& job, const data::Dataset& dataset,
                                        const fl::Observe& observe) {
  SOTTO_TRY(auto prepared, prepare(job));
  SOTTO_TRY(const auto seen, recipes::training_data_of(*prepared.recipe, dataset));
  std::error_code error;
  const bool existed = fs::exists(job.out);
  fs::create_directories(job.out, error);
  if (error) return failed("cannot create {}: {}", job.out.string(), error.message());
  const json description = {{"recipe", prepared.entry->name},
                            {"guarantee", prepared.entry->guarantee},
                            {"differentially_private", prepared.entry->differentially_private},
                            {"seed", prepared.seed},
                            {"device", prepared.device},
                            {"reproducible", prepared.reproducible},
                            {"data", job.data.string()},
                            {"dataset", dataset.name()},
                            {"version", SOTTO_VERSION}};
  SOTTO_CHECK(write_file_atomically(job.out / "run.json", description.dump(2) + "\n"));
  SOTTO_CHECK(write_file_atomically(job.out / "settings.toml", prepared.table.to_toml()));

  const recipes::RunRequest request{seen,
                                    job.out,
                                    prepared.seed,
                                    prepared.device,
                                    job.resume,
                                    evaluate_recommender,
                                    observe,
                                    evaluate_interactions,
                                    evaluate_served,
                                    prepared.reproducible};
  auto outcome = prepared.recipe->train(request);
  if (!outcome) {
    // A run that could not start leaves nothing behind; one with a checkpoint can be resumed.
    if (!existed && !fs::exists(job.out / "last.sotto")) fs::remove_all(job.out, error);
    return outcome;
  }
  if (outcome->privacy) {
    outcome->privacy->reproducible = prepared.reproducible;
    SOTTO_CHECK(write_file_atomically(job.out / "privacy.txt", privacy::to_text(*outcome->privacy)));
    SOTTO_CHECK(write_file_atomically(job.out / "privacy.json", to_json(*outcome->privacy) + "\n"));
  }
  if (!outcome->summary.interrupted)
    SOTTO_CHECK(write_file_atomically(job.out / "result.json", to_json(*outcome).dump(2) + "\n"));
  return outcome;
}

namespace {

Result<recipes::TestMetrics> evaluate_stored(const fs::path& run, const data::Dataset& dataset,
                                             const recipes::Evaluate& evaluate,
                                             const std::vector<std::string>& assignments) {
  SOTTO_TRY(auto prepared, recipes::load_run(run));
  for (const auto& assignment : assignments) SOTTO_CHECK(prepared.table.set_assignment(assignment));
  if (!fs::exists(run / "best.sotto"))
    return bad_input("{} has no trained parameters yet: continue it with --resume", run.string());
  SOTTO_TRY(const auto seen, recipes::data_of_run(*prepared.recipe, dataset));
  return prepared.recipe->evaluate({.dataset = seen,
                                    .run = run,
                                    .seed = prepared.seed,
                                    .device = prepared.device,
                                    .evaluate = evaluate,
                                    .evaluate_held_out = evaluate_interactions,
                                    .reproducible = prepared.reproducible});
}

}  // namespace

Result<recipes::TestMetrics> evaluate_run(const fs::path& run, const data::Dataset& dataset) {
  return evaluate_stored(run, dataset, evaluate_recommender, {});
}

Result<recipes::TestMetrics> evaluate_run(const fs::path& run, const data::Dataset& dataset,
                                          const recipes::Evaluate& evaluate) {
  return evaluate_stored(run, dataset, evaluate, {});
}

Result<recipes::TestMetrics> evaluate_run_as(const fs::path& run, const data::Dataset& dataset,
                                             const std::vector<std::string>& assignments) {
  return evaluate_stored(run, dataset, evaluate_recommender, assignments);
}

json to_json(const metrics::ImpressionMetrics& metrics) {
  return {{"auc", metrics.auc}, {"mrr", metrics.mrr}, {"ndcg5", metrics.ndcg5}, {"ndcg10", metrics.ndcg10}};
}

namespace {

// "hits5": 0.1, ..., "ndcg30": 0.2
json cutoffs_json(const metrics::HeldOutMetrics& metrics) {
  json line;
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
    line[fmt::format("hits{}", metrics::HeldOutMetrics::cutoffs[c])] = metrics.hits[c];
    line[fmt::format("ndcg{}", metrics::HeldOutMetrics::cutoffs[c])] = metrics.ndcg[c];
  }
  return line;
}

}  // namespace

json to_json(const metrics::HeldOutReport& report) {
  json line = cutoffs_json(report.mean), beside, activity = json::array();
  for (const auto& row : report.beside) beside[row.name] = cutoffs_json(row.metrics);
  for (const auto& part : report.by_activity) activity.push_back(cutoffs_json(part));
  line.update({{"tested_users", report.users},
               {"tested_rows", report.rows},
               {"left_out", report.left_out},
               {"beside", beside},
               {"by_activity", activity}});
  return line;
}

json to_json(const recipes::TrainOutcome& outcome) {
  json line = outcome.held_out ? to_json(*outcome.held_out) : to_json(outcome.test.mean);
  if (!outcome.held_out) line["impressions"] = outcome.test.counted;
  if (outcome.served) line["served"] = to_json(outcome.served->mean);
  const json sheet = outcome.privacy ? json::parse(to_json(*outcome.privacy)) : json::object();
  for (const char* key :
       {"epsilon", "epsilon_published", "epsilon_claimed", "epsilon_query", "delta", "unit", "simulation"})
    line[key] = sheet.contains(key) ? sheet.at(key) : json(nullptr);
  line.update({{"event", "done"},
               {"bytes_up", outcome.bytes_up},
               {"bytes_down", outcome.bytes_down},
               {"seconds", outcome.summary.seconds},
               {"rounds", outcome.summary.rounds.size()},
               {"best_round", outcome.summary.best_round},
               {"parameters", outcome.parameters},
               {"training_users", outcome.training_users},
               {"training_samples", outcome.training_samples}});
  return line;
}

}  // namespace sotto::eval
