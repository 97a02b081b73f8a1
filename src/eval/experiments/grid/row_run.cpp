#include "eval/experiments/grid/row_run.h"

#include <nlohmann/json.hpp>
#include <set>

#include "eval/training_run.h"
#include "fl/run_log.h"
#include "recipes/recipe.h"

namespace sotto {

namespace {

std::string key_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=')); }

std::set<std::string> names_of(const SettingsTable& table) {
  std::set<std::string> names;
  for (const auto& row : table.rows()) names.insert(row.name);
  return names;
}

Status check_labels(const Grid& grid) {
  std::set<std::pair<std::string, std::string>> labels;
  for (const GridRow& row : grid.rows)
    if (!labels.emplace(row.group, row.label).second)
      return failed("two rows are called '{}' in '{}'", row.label, row.group);
  return {};
}

}  // namespace

Result<RowSettings> row_settings(const Grid& grid, const GridRow& row,
                                 const std::vector<std::string>& given) {
  SOTTO_TRY(const auto* entry, find_recipe(row.recipe));
  const auto recipe = entry->make();
  SettingsTable table;
  std::vector<std::string> all = row.takes_shared ? grid.shared : std::vector<std::string>();
  all.insert(all.end(), row.settings.begin(), row.settings.end());
  all.insert(all.end(), given.begin(), given.end());
  SOTTO_CHECK(bind_settings(*recipe, table, all));
  auto known = names_of(table);
  for (const std::string& name : row.own) known.erase(name);
  RowSettings settings;
  const auto apply = [&](const std::string& assignment) {
    settings.assignments.push_back(assignment);
    return table.set_assignment(assignment);
  };
  for (const std::string& assignment : grid.shared)
    if (row.takes_shared && known.contains(key_of(assignment))) SOTTO_CHECK(apply(assignment));
  for (const std::string& assignment : row.settings) SOTTO_CHECK(apply(assignment));
  for (const std::string& assignment : given)
    if (known.contains(key_of(assignment))) SOTTO_CHECK(apply(assignment));
  settings.complete = table.to_json().dump();
  for (const std::string& assignment : row.at_test) SOTTO_CHECK(table.set_assignment(assignment));
  return settings;
}

Status check_grid(const Grid& grid, const std::vector<std::string>& given) {
  if (grid.rows.empty()) return failed("'{}' has no rows", grid.title);
  SOTTO_CHECK(check_labels(grid));
  std::set<std::string> known(grid.options.begin(), grid.options.end());
  for (const GridRow& row : grid.rows) {
    auto settings = row_settings(grid, row, given);
    if (!settings) return tl::unexpected(std::move(settings).error().in(row.label));
    const auto complete = nlohmann::json::parse(settings->complete);
    for (const auto& [name, value] : complete.items()) known.insert(name);
  }
  for (const std::string& assignment : given) {
    if (assignment.find('=') == std::string::npos)
      return bad_input("'{}' is not of the form key=value", assignment);
    if (known.contains(key_of(assignment))) continue;
    const auto near = nearest(key_of(assignment), {known.begin(), known.end()});
    return bad_input("no recipe of this experiment has a setting '{}'{}", key_of(assignment),
                     near ? fmt::format("; did you mean '{}'?", *near) : "");
  }
  return {};
}

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
