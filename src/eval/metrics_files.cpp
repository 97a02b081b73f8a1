#include "eval/metrics_files.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "fl/run_log.h"
#include "formats/tensorboard_events.h"
#include "recipes/stored_run.h"

namespace sotto::eval {

namespace {

// The log as steps with times: the last one when the log was written, those before as many seconds of
// training earlier.
std::vector<formats::ScalarStep> steps_of(const fs::path& run) {
  const auto records = fl::read_run_log(run / "log.jsonl");
  std::error_code problem;
  const auto written = fs::last_write_time(run / "log.jsonl", problem);
  const auto since = std::chrono::file_clock::to_sys(written).time_since_epoch();
  const double end = problem ? 0 : std::chrono::duration<double>(since).count();
  std::vector<formats::ScalarStep> steps;
  for (const fl::RoundRecord& record : records) {
    formats::ScalarStep step{record.round, end - (records.back().seconds - record.seconds), {}};
    step.values = {{"loss", record.loss},
                   {"seconds", record.seconds},
                   {"clients", static_cast<double>(record.clients)},
                   {"samples", static_cast<double>(record.samples)},
                   {"bytes_up", static_cast<double>(record.bytes_up)},
                   {"bytes_down", static_cast<double>(record.bytes_down)}};
    if (record.validation) {
      step.values.emplace_back("validation/auc", record.validation->auc);
      step.values.emplace_back("validation/mrr", record.validation->mrr);
      step.values.emplace_back("validation/ndcg5", record.validation->ndcg5);
      step.values.emplace_back("validation/ndcg10", record.validation->ndcg10);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Status write_tensorboard(const fs::path& run, const std::vector<formats::ScalarStep>& steps) {
  SOTTO_TRY(auto folder, AtomicDirectory::create(run / "tensorboard", true));
  SOTTO_CHECK(
      write_file_atomically(folder.path() / "events.out.tfevents.0.sotto", formats::tensorboard_file(steps)));
  return folder.commit();
}

std::uint64_t milliseconds(double wall) { return static_cast<std::uint64_t>(std::max(wall, 0.0) * 1000); }

// YAML takes JSON's strings as they are.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

Status write_text(const fs::path& file, const std::string& text) {
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);
  if (problem) return failed("cannot create {}: {}", file.parent_path().string(), problem.message());
  return write_file_atomically(file, text);
}

// 32 hexadecimal digits that tell runs apart. No secret depends on them: a hash that every build has does.
std::string mlflow_id(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Status write_mlflow(const fs::path& run, const std::vector<formats::ScalarStep>& steps) {
  SOTTO_TRY(const auto stored, recipes::load_run(run));
  const std::string id = mlflow_id(
      fmt::format("{}\n{}\n{}\n{}", stored.entry->name, stored.fingerprint, stored.seed, run.string()));
  SOTTO_TRY(auto folder, AtomicDirectory::create(run / "mlruns", true));
  const fs::path experiment = folder.path() / "0", own = experiment / id;
  const std::uint64_t begin = steps.empty() ? 0 : milliseconds(steps.front().wall_seconds);
  const std::uint64_t end = steps.empty() ? 0 : milliseconds(steps.back().wall_seconds);
  SOTTO_CHECK(
      write_text(experiment / "meta.yaml",
                 "artifact_location: ''\nexperiment_id: '0'\nlifecycle_stage: active\nname: sotto\n"));
  SOTTO_CHECK(write_text(
      own / "meta.yaml",
      fmt::format(
          "artifact_uri: ''\nend_time: {}\nentry_point_name: ''\nexperiment_id: '0'\nlifecycle_stage: "
          "active\n"
          "run_id: {}\nrun_name: {}\nrun_uuid: {}\nsource_name: ''\nsource_type: 4\nsource_version: ''\n"
          "start_time: {}\nstatus: 3\ntags: []\nuser_id: ''\n",
          end, id, quoted(std::string(stored.entry->name)), id, begin)));
  std::map<std::string, std::string> metrics;
  for (const auto& step : steps)
    for (const auto& [name, value] : step.values)
      metrics[name] += fmt::format("{} {} {}\n", milliseconds(step.wall_seconds), value, step.step);
  for (const auto& [name, lines] : metrics) SOTTO_CHECK(write_text(own / "metrics" / name, lines));
  SOTTO_CHECK(write_text(own / "params" / "recipe", std::string(stored.entry->name)));
  for (const auto& row : stored.table.rows()) SOTTO_CHECK(write_text(own / "params" / row.name, row.value));
  std::error_code problem;
  for (const char* name : {"tags", "artifacts"}) fs::create_directories(own / name, problem);
  return folder.commit();
}

}  // namespace

Status write_metrics_files(const fs::path& run, std::string_view format) {
  const auto steps = steps_of(run);
  if (format == "tensorboard") return write_tensorboard(run, steps);
  if (format == "mlflow") return write_mlflow(run, steps);
  return bad_input("there is no format '{}' for metrics: one of {}", format,
                   fmt::join(metrics_formats, ", "));
}

}  // namespace sotto::eval
