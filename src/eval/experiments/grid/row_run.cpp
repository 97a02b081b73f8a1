#include "eval/experiments/grid/row_run.h"

#include <nlohmann/json.hpp>

#include "eval/training_run.h"
#include "fl/run_log.h"

namespace sotto {

using nlohmann::json;

namespace {

// FNV-1a: names of folders must not change with the compiler.
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return hash;
}

void add_log_measures(json& result, const fs::path& run) {
  constexpr double near_the_best = 0.002;
  const auto records = read_run_log(run / "log.jsonl");
  double clients = 0, best = -1, seconds = 0;
  for (const RoundRecord& record : records) {
    clients += static_cast<double>(record.clients);
    seconds = record.seconds;
    if (record.validation) best = std::max(best, record.validation->auc);
  }
  if (clients > 0) result["client_seconds"] = seconds / clients;
  if (best < 0) return;
  double bytes = 0;
  for (const RoundRecord& record : records) {
    bytes += static_cast<double>(record.clients) * static_cast<double>(record.bytes_up + record.bytes_down);
    if (!record.validation || record.validation->auc < best - near_the_best) continue;
    result["converged_round"] = record.round;
    if (bytes > 0) result["bytes_to_converge"] = bytes;
    return;
  }
}

Result<std::optional<json>> trained(const RowJob& job, const fs::path& run, const Dataset& dataset,
                                    const std::function<void(std::uint32_t)>& observe) {
  const fs::path mark = run.string() + ".made-with";
  const std::string made_with = job.fingerprint + "\n" + job.settings.complete + "\n";
  std::error_code ignored;
  const auto earlier = fs::exists(mark) ? read_file(mark, 1 << 20) : Result<std::string>("");
  if (!earlier || *earlier != made_with || !fs::exists(run / "last.sotto")) {
    fs::remove_all(run, ignored);
    SOTTO_CHECK(write_file_atomically(mark, made_with));
  } else if (fs::exists(run / "result.json")) {
    SOTTO_TRY(const auto text, read_file(run / "result.json", 1 << 24));
    json result = json::parse(text, nullptr, false);
    if (result.is_object()) return result;
  }
  TrainJob training;
  training.recipe = job.row.recipe;
  training.data = job.data;
  training.out = run;
  training.seed = job.seed;
  training.device = job.device;
  training.resume = fs::exists(run / "last.sotto");
  if (!training.resume) training.assignments = job.settings.assignments;
  SOTTO_TRY(const auto outcome, train_run(training, dataset, [&](const RoundRecord& record) {
              if (observe) observe(record.round);
            }));
  if (outcome.summary.interrupted) return std::nullopt;
  return to_json(outcome);
}

}  // namespace

fs::path run_folder(const RowJob& job) {
  return job.runs / fmt::format("{}-{:08x}-seed{}", job.row.recipe,
                                static_cast<std::uint32_t>(digest(job.settings.complete)), job.seed);
}

Result<std::optional<json>> run_row(const RowJob& job, const Dataset& dataset,
                                    const std::function<void(std::uint32_t round)>& observe) {
  std::error_code error;
  fs::create_directories(job.runs, error);
  if (error) return failed("cannot create {}: {}", job.runs.string(), error.message());
  const fs::path run = run_folder(job);
  SOTTO_TRY(auto result, trained(job, run, dataset, observe));
  if (!result) return std::nullopt;
  if (!job.row.at_test.empty()) {
    SOTTO_TRY(const auto tested, evaluate_run_as(run, dataset, job.row.at_test));
    if (const auto* held_out = std::get_if<HeldOutReport>(&tested))
      result->update(to_json(*held_out));
    else
      result->update(to_json(std::get<MeanImpressionMetrics>(tested).mean));
  }
  add_log_measures(*result, run);
  (*result)["bytes"] = result->at("bytes_up").get<double>() + result->at("bytes_down").get<double>();
  return result;
}

}  // namespace sotto
