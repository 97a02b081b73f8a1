#include "recipes/stored_run.h"

#include <nlohmann/json.hpp>

#include "data/fingerprint.h"
#include "recipes/run_data.h"

namespace sotto::recipes {

using nlohmann::json;

namespace {

Result<json> read_run_json(const fs::path& path) {
  SOTTO_TRY(const auto text, read_file(path, 1 << 20));
  auto parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object())
    return bad_input("{} is not a run description: was the folder changed by hand?", path.string());
  return parsed;
}

}  // namespace

Result<StoredRun> load_run(const fs::path& run) {
  if (!fs::exists(run / "run.json"))
    return bad_input(
        "{} holds no run (there is no run.json): start one with 'sotto train RECIPE --data DIR --out {}'",
        run.string(), run.string());
  SOTTO_TRY(const auto stored, read_run_json(run / "run.json"));
  StoredRun loaded;
  try {
    SOTTO_TRY(loaded.entry, find_recipe(stored.at("recipe").get<std::string>()));
    loaded.seed = stored.at("seed").get<std::uint64_t>();
    loaded.device = stored.at("device").get<std::string>();
    loaded.reproducible = stored.at("reproducible").get<bool>();
    loaded.dataset = stored.at("dataset").get<std::string>();
    loaded.fingerprint = stored.at("fingerprint").get<std::string>();
    loaded.data = stored.at("data").get<std::string>();
  } catch (const json::exception&) {
    return bad_input("{} is not a run description", (run / "run.json").string());
  }
  loaded.recipe = loaded.entry->make();
  SOTTO_CHECK(bind_settings(*loaded.recipe, loaded.table, {}, run / "settings.toml"));
  SOTTO_CHECK(loaded.table.load_toml(run / "settings.toml"));
  return loaded;
}

Status check_data_of_run(const StoredRun& stored, const fs::path& run, const data::Dataset& dataset,
                         const fs::path& folder) {
  const std::string found = data::fingerprint(dataset);
  if (found == stored.fingerprint) return {};
  return bad_input(
      "{} was trained on {} (fingerprint {}{}), and {} holds other data: {} (fingerprint {}). Name the data "
      "it was "
      "trained on, or train a run on this",
      run.string(), stored.dataset, stored.fingerprint,
      stored.data.empty() ? "" : fmt::format(", then in {}", stored.data.string()),
      folder.empty() ? "what was given" : folder.string(), dataset.name(), found);
}

Status check_results_folder(const fs::path& out) {
  if (fs::exists(out) && !fs::is_directory(out))
    return bad_input("--out {} is a file: name a folder for the results", out.string());
  for (const auto& [file, what] : {std::pair("run.json", "a run"), std::pair("dataset.sotto", "a data set")})
    if (fs::exists(out / file))
      return bad_input("--out {} is {}: name another folder for the results", out.string(), what);
  return {};
}

Status check_data_of_run(const fs::path& run, const data::Dataset& dataset, const fs::path& folder) {
  SOTTO_TRY(const auto stored, load_run(run));
  return check_data_of_run(stored, run, dataset, folder);
}

namespace {

// Hands the recipe of a trained run the data that it may see.
template <class Open>
auto open_with(const fs::path& run, const data::Dataset& dataset, Open open)
    -> decltype(open(std::declval<Recipe&>(), std::declval<const RunRequest&>())) {
  SOTTO_TRY(auto stored, load_run(run));
  if (!fs::exists(run / "best.sotto"))
    return bad_input("{} has no trained parameters yet: continue it with --resume", run.string());
  SOTTO_TRY(const auto seen, data_of_run(*stored.recipe, dataset));
  const RunRequest request{.dataset = seen,
                           .run = run,
                           .seed = stored.seed,
                           .device = stored.device,
                           .reproducible = stored.reproducible};
  return open(*stored.recipe, request);
}

}  // namespace

Result<TrainedNews> open_news_run(const fs::path& run, const data::Dataset& dataset) {
  return open_with(run, dataset,
                   [](Recipe& recipe, const RunRequest& request) { return recipe.open(request); });
}

Result<std::optional<TrainedFactors>> open_factors_run(const fs::path& run, const data::Dataset& dataset) {
  return open_with(run, dataset,
                   [](Recipe& recipe, const RunRequest& request) { return recipe.open_factors(request); });
}

}  // namespace sotto::recipes
