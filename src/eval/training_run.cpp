#include "eval/training_run.h"

#include <fcntl.h>
#include <fmt/chrono.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/descriptor.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/temporary_sibling.h"
#include "data/fingerprint.h"
#include "eval/interaction_evaluator.h"
#include "eval/recommender_evaluator.h"
#include "fl/run_log.h"
#include "metrics/unit_of_metrics.h"
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
                                                : "it gives no differential privacy. Leave it out, or take a "
                                                  "recipe that 'sotto recipes' lists without '(no DP)'");
}

bool same_value(const std::string& one, const std::string& other) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return text.empty() || *end != 0 ? std::nullopt : std::optional(value);
  };
  return one == other || (number(one) && number(one) == number(other));
}

// One value in two places: which of them was meant?
Status refuse_contradictions(const TrainJob& job) {
  const std::pair<const char*, std::string> flags[] = {
      {"epsilon", job.epsilon},
      {"against", job.against},
      {"mode", job.mode},
      {"rounds", job.rounds ? std::to_string(*job.rounds) : ""}};
  for (const auto& [name, value] : flags) {
    if (value.empty()) continue;
    for (const std::string& assignment : job.assignments)
      if (assignment.starts_with(std::string(name) + "=") &&
          !same_value(assignment.substr(std::string(name).size() + 1), value))
        return bad_input("--{} {} and --set {} contradict each other: give one of them", name, value,
                         assignment);
  }
  return {};
}

// Whose view the budget bounds. Where everybody takes part the same number holds against all, and there is
// nothing to choose.
Status set_against(recipes::StoredRun& prepared, const std::string& against) {
  if (against.empty()) return {};
  if (!prepared.entry->differentially_private || !prepared.recipe->promises_epsilon())
    return bad_input(
        "--against {}: {} as it is set bounds nobody's view ('sotto recipes {}' says what holds); leave it "
        "out, "
        "or train in sound mode with --epsilon",
        against, prepared.entry->name, prepared.entry->name);
  for (const auto& row : prepared.table.rows())
    if (row.name == "against") return prepared.table.set("against", against);
  return {};
}

constexpr const char *description_file = "run.json", *settings_file = "settings.toml";

// Under a temporary name, by a process that was killed (base/temporary_sibling.h).
bool is_leftover(const fs::path& entry) {
  for (const char* file : {description_file, settings_file})
    if (is_temporary_sibling(entry, file)) return true;
  return false;
}

// Killed while its first two files were written.
bool barely_begun(const fs::path& run) {
  if (!fs::is_directory(run) || fs::exists(run / description_file)) return false;
  for (const auto& entry : fs::directory_iterator(run))
    if (entry.path().filename() != settings_file && !is_leftover(entry.path())) return false;
  return true;
}

// Killed after its first two files and before anything was kept of a round: nothing is lost and nothing was
// released.
bool has_no_round(const fs::path& run) {
  return fs::exists(run / description_file) && !fs::exists(run / "last.sotto") &&
         !fl::has_released_rounds(run);
}

// The command that began a run goes on with it when --resume is added.
Status check_same_settings(const TrainJob& job, SettingsTable& table) {
  if (!job.config.empty())
    return bad_input("a resumed run keeps its settings, which stand in {}: leave out --config",
                     (job.out / settings_file).string());
  auto asked = job.assignments;
  for (const auto& [name, value] : {std::pair<const char*, const std::string&>{"mode", job.mode},
                                    {"epsilon", job.epsilon},
                                    {"against", job.against}})
    if (!value.empty()) asked.push_back(fmt::format("{}={}", name, value));
  for (const std::string& assignment : asked) {
    const std::string name = assignment.substr(0, assignment.find('=')),
                      value = assignment.substr(std::min(assignment.size(), name.size() + 1));
    const auto rows = table.rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& known) { return known.name == name; });
    if (row == rows.end()) return table.set_assignment(assignment);  // says which name is near
    if (!same_value(row->value, value))
      return bad_input("{} has {}={}, and a resumed run keeps its settings: leave out {}={}",
                       job.out.string(), name, row->value, name, value);
  }
  return {};
}

Result<recipes::StoredRun> prepare_again(const TrainJob& job) {
  if (!fs::exists(job.out))
    return bad_input(
        "there is no run in {} to continue: it was stopped before it began, or --out names another folder "
        "than then. The same command without --resume starts it",
        job.out.string());
  SOTTO_TRY(auto prepared, recipes::load_run(job.out));
  if (job.recipe != prepared.entry->name)
    return bad_input("{} is a run of {}, not of {}", job.out.string(), prepared.entry->name, job.recipe);
  SOTTO_CHECK(check_same_settings(job, prepared.table));
  if (job.reproducible && !prepared.reproducible)
    return bad_input(
        "{} has drawn secret noise so far, and a run is one or the other: leave out --reproducible, or "
        "start a simulation in another --out",
        job.out.string());
  SOTTO_CHECK(fl::check_nothing_is_released_twice(job.out));
  if (!job.rounds) return prepared;
  const auto done = static_cast<std::int64_t>(fl::read_run_log(job.out / "log.jsonl").size());
  if (*job.rounds < done)
    return bad_input(
        "{} has done {} rounds, which --rounds {} cannot take back: ask for more, or leave it out",
        job.out.string(), done, *job.rounds);
  SOTTO_CHECK(prepared.table.set("rounds", std::to_string(*job.rounds)));
  return prepared;
}

// What began in the folder is begun again by the same command, and by no other.
Status check_same_run(const TrainJob& job, const recipes::StoredRun& asked) {
  SOTTO_TRY(const auto begun, recipes::load_run(job.out));
  const auto same = [&](std::string_view what, const std::string& then, const std::string& now) -> Status {
    if (same_value(then, now)) return {};
    return bad_input(
        "{} was stopped before its first checkpoint, and its {} was {} instead of {}: repeat the command "
        "that "
        "began it, choose another --out, or remove the folder, in which no round was kept",
        job.out.string(), what, then, now);
  };
  SOTTO_CHECK(same("recipe", std::string(begun.entry->name), std::string(asked.entry->name)));
  const auto then = begun.table.rows(), now = asked.table.rows();
  for (std::size_t i = 0; i < std::min(then.size(), now.size()); ++i)
    SOTTO_CHECK(same(then[i].name, then[i].value, now[i].value));
  SOTTO_CHECK(same("--seed", std::to_string(begun.seed), std::to_string(asked.seed)));
  SOTTO_CHECK(same("--device", begun.device, asked.device));
  return same("--reproducible", begun.reproducible ? "true" : "false", asked.reproducible ? "true" : "false");
}

Result<recipes::StoredRun> prepare(const TrainJob& job) {
  SOTTO_CHECK(refuse_contradictions(job));
  const bool barely = barely_begun(job.out);
  if (job.resume && !barely) return prepare_again(job);
  recipes::StoredRun prepared;
  SOTTO_TRY(prepared.entry, recipes::find_recipe(job.recipe));
  const bool again = !job.resume && has_no_round(job.out);
  if (fs::exists(job.out / "dataset.sotto"))
    return bad_input("--out {} is a data set: name another folder for the run", job.out.string());
  if (fs::exists(job.out) && !barely && !again)
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
  SOTTO_CHECK(set_against(prepared, job.against));
  SOTTO_CHECK(recipes::refuse_unread(prepared.table, prepared.recipe->conditions()));
  prepared.seed = job.seed;
  prepared.device = job.device;
  prepared.reproducible = job.reproducible;
  if (again) SOTTO_CHECK(check_same_run(job, prepared));
  return prepared;
}

}  // namespace

Result<std::int64_t> planned_rounds(const TrainJob& job) {
  SOTTO_TRY(const auto prepared, prepare(job));
  return prepared.table.to_json().at("rounds").get<std::int64_t>();
}

namespace {

Status write_if_other(const fs::path& file, const std::string& text) {
  if (fs::exists(file)) {
    SOTTO_TRY(const auto before, read_file(file, 1 << 20));
    if (before == text) return {};
  }
  return write_file_atomically(file, text);
}

// The folder may lie elsewhere than the current one when it is looked for again.
std::string lasting(const fs::path& folder) {
  return folder.empty() ? std::string() : fs::absolute(folder).lexically_normal().string();
}

// run.json last: with it, the run can be resumed.
Status describe_run(const TrainJob& job, const recipes::StoredRun& prepared, const data::Dataset& dataset,
                    const std::string& fingerprint) {
  const json description = {{"recipe", prepared.entry->name},
                            {"guarantee", prepared.entry->guarantee},
                            {"differentially_private", prepared.entry->differentially_private},
                            {"seed", prepared.seed},
                            {"device", prepared.device},
                            {"reproducible", prepared.reproducible},
                            {"data", lasting(job.data)},
                            {"dataset", dataset.name()},
                            {"fingerprint", fingerprint},
                            {"version", SOTTO_VERSION}};
  SOTTO_CHECK(write_if_other(job.out / settings_file, prepared.table.to_toml()));
  return write_if_other(job.out / description_file, description.dump(2) + "\n");
}

// Files that killed processes left under temporary names, up to a checkpoint each.
void remove_leftovers(const fs::path& run) {
  for (const char* file : {description_file, settings_file, "last.sotto", "best.sotto", "log.jsonl",
                           "result.json", "privacy.txt", "privacy.json"})
    remove_temporary_siblings(run / file);
}

// Two processes in one folder would write over each other. Where a file system cannot lock a folder, nobody
// is kept out.
Result<Descriptor> locked(const fs::path& run) {
  SOTTO_TRY(Descriptor folder, Descriptor::open(run, O_RDONLY | O_DIRECTORY, "open"));
  const auto alone = folder.lock(run);
  if (alone && !*alone)
    return bad_input("{} is being trained by another process: wait for it, or stop it", run.string());
  return folder;
}

Result<recipes::TrainOutcome> trained(const TrainJob& job, recipes::StoredRun& prepared,
                                      const data::Dataset& dataset, const TrainWatch& watch) {
  SOTTO_TRY(const auto seen, recipes::training_data_of(*prepared.recipe, dataset));
  const std::string fingerprint = data::fingerprint(dataset);
  if (interrupted()) return failed("stopped before the first round: nothing was changed");
  const bool described = fs::exists(job.out / description_file),
             checkpoint = fs::exists(job.out / "last.sotto");
  if (described) {
    SOTTO_CHECK(recipes::check_data_of_run(job.out, dataset, job.data));
    if (!checkpoint)
      info("{} was stopped before its first checkpoint: no round of it was released, so it starts again",
           job.out.string());
    remove_leftovers(job.out);
  } else {
    remove_leftovers(job.out);
    SOTTO_CHECK(describe_run(job, prepared, dataset, fingerprint));
  }
  return prepared.recipe->train({.dataset = seen,
                                 .run = job.out,
                                 .seed = prepared.seed,
                                 .device = prepared.device,
                                 .resume = checkpoint,
                                 .evaluate = evaluate_with_progress,
                                 .observe = watch.round,
                                 .evaluate_held_out = evaluate_interactions,
                                 .evaluate_served = evaluate_served,
                                 .reproducible = prepared.reproducible,
                                 .validate = evaluate_recommender,
                                 .begin = [&] { return describe_run(job, prepared, dataset, fingerprint); },
                                 .trained = watch.trained,
                                 .test_impressions = job.test_impressions});
}

// A finished run that is only tested again keeps the time at which its training ended.
Status write_result(const fs::path& file, const recipes::TrainOutcome& outcome) {
  json result = to_json(outcome);
  if (fs::exists(file)) {
    SOTTO_TRY(const auto text, read_file(file, 1 << 24));
    const json earlier = json::parse(text, nullptr, false);
    if (earlier.is_object() && earlier.contains("ended") &&
        earlier.value("rounds", json()) == result.at("rounds"))
      result["ended"] = earlier.at("ended");
  }
  return write_file_atomically(file, result.dump(2) + "\n");
}

void remove_contents(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) entries.push_back(entry.path());
  for (const fs::path& entry : entries) fs::remove_all(entry, ignored);
}

}  // namespace

Result<recipes::TrainOutcome> train_run(const TrainJob& job, const data::Dataset& dataset,
                                        const TrainWatch& watch) {
  SOTTO_TRY(auto prepared, prepare(job));
  std::error_code error;
  const bool existed = fs::exists(job.out), began = existed && !fs::is_empty(job.out);
  fs::create_directories(job.out, error);
  if (error) return failed("cannot create {}: {}", job.out.string(), error.message());
  SOTTO_TRY(const Descriptor lock, locked(job.out));
  auto outcome = trained(job, prepared, dataset, watch);
  if (!outcome) {
    // A run that could not start leaves nothing behind; one with a checkpoint can be resumed.
    if (!began && !fs::exists(job.out / "last.sotto")) {
      remove_contents(job.out);
      if (!existed) fs::remove(job.out, error);
    }
    return outcome;
  }
  // Metrics that Ctrl-C cut short mean nothing; resumed, the run is tested again.
  if (interrupted()) outcome->summary.interrupted = true;
  if (outcome->privacy) {
    outcome->privacy->reproducible = prepared.reproducible;
    SOTTO_CHECK(write_file_atomically(job.out / "privacy.txt", privacy::to_text(*outcome->privacy)));
    SOTTO_CHECK(write_file_atomically(job.out / "privacy.json", to_json(*outcome->privacy) + "\n"));
  }
  if (!outcome->summary.interrupted) SOTTO_CHECK(write_result(job.out / "result.json", *outcome));
  return outcome;
}

Result<recipes::TestMetrics> evaluate_run(const EvaluateJob& job, const data::Dataset& dataset) {
  SOTTO_TRY(auto prepared, recipes::load_run(job.run));
  for (const auto& assignment : job.assignments) SOTTO_CHECK(prepared.table.set_assignment(assignment));
  if (!fs::exists(job.run / "best.sotto"))
    return bad_input("{} has no trained parameters yet: continue it with --resume", job.run.string());
  if (const auto own = recipes::check_data_of_run(prepared, job.run, dataset, job.data); !own) {
    if (!job.other_data) return tl::unexpected(Error(own.error()));
    warn(
        "{}: these are not the test impressions of its own data, and its numbers cannot be compared with "
        "them",
        own.error().message);
  }
  SOTTO_TRY(const auto seen, recipes::data_of_run(*prepared.recipe, dataset));
  SOTTO_TRY(const auto measured,
            prepared.recipe->evaluate(
                {.dataset = seen,
                 .run = job.run,
                 .seed = prepared.seed,
                 .device = prepared.device,
                 .evaluate = job.evaluate ? job.evaluate : evaluate_with_progress,
                 .evaluate_held_out = job.evaluate_held_out ? job.evaluate_held_out : evaluate_interactions,
                 .reproducible = prepared.reproducible,
                 .test_impressions = job.test_impressions}));
  if (interrupted()) return failed("stopped while {} was tested", job.run.string());
  return measured;
}

json to_json(const metrics::ImpressionMetrics& metrics) {
  return {{"auc", metrics.auc}, {"mrr", metrics.mrr}, {"ndcg5", metrics.ndcg5}, {"ndcg10", metrics.ndcg10}};
}

json to_json(const metrics::MeanImpressionMetrics& metrics) {
  json line = to_json(metrics.mean);
  const json errors = to_json(metrics.error);
  for (const auto& [name, error] : errors.items()) line[name + "_error"] = error;
  line.update({{"impressions", metrics.counted},
               {"left_out", metrics.left_out},
               {"unit_of_metrics", metrics::unit_of_metrics}});
  return line;
}

// "hits5": 0.1, ..., "ndcg30": 0.2
json to_json(const metrics::HeldOutMetrics& metrics) {
  json line;
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
    line[fmt::format("hits{}", metrics::HeldOutMetrics::cutoffs[c])] = metrics.hits[c];
    line[fmt::format("ndcg{}", metrics::HeldOutMetrics::cutoffs[c])] = metrics.ndcg[c];
  }
  return line;
}

namespace {

// Where there are lists, ndcg is theirs: that of single items is about something else.
json held_out_json(const metrics::HeldOutMetrics& single,
                   const std::optional<metrics::TopListMetrics>& lists) {
  json line = to_json(single);
  if (!lists) return line;
  for (const int cutoff : metrics::HeldOutMetrics::cutoffs) line.erase(fmt::format("ndcg{}", cutoff));
  line[fmt::format("recall{}", metrics::TopListMetrics::cutoff)] = lists->recall;
  line[fmt::format("ndcg{}", metrics::TopListMetrics::cutoff)] = lists->ndcg;
  return line;
}

}  // namespace

json to_json(const metrics::HeldOutReport& report) {
  json line = held_out_json(report.mean, report.lists), beside, activity = json::array();
  const json errors = held_out_json(metrics::standard_errors(report), report.lists_error);
  for (const auto& [name, error] : errors.items()) line[name + "_error"] = error;
  for (const auto& row : report.beside) beside[row.name] = held_out_json(row.metrics, row.lists);
  for (const auto& part : report.by_activity) activity.push_back(to_json(part));
  line.update({{"unit_of_metrics", metrics::unit_of_metrics},
               {"tested_users", report.users},
               {"tested_rows", report.rows},
               {"left_out", report.left_out},
               {"beside", beside},
               {"by_activity", activity}});
  return line;
}

namespace {

std::string utc_now() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))); }

}  // namespace

json to_json(const recipes::TrainOutcome& outcome) {
  json line = outcome.held_out ? to_json(*outcome.held_out) : to_json(outcome.test);
  if (outcome.served) line["served"] = to_json(outcome.served->mean);
  const json sheet = outcome.privacy ? json::parse(to_json(*outcome.privacy)) : json::object();
  for (const char* key : {"epsilon", "epsilon_published", "epsilon_claimed", "epsilon_noised_part",
                          "epsilon_query", "delta", "unit", "simulation"})
    line[key] = sheet.contains(key) ? sheet.at(key) : json(nullptr);
  line.update({{"event", "done"},
               {"ended", utc_now()},
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
