#include "recipes/own_model.h"

#include <algorithm>

#include "fl/cohort_sampler.h"
#include "fl/device_fold.h"

namespace sotto::recipes {

OwnModelSettings::OwnModelSettings() {
  engine.rounds = 30;
  optimiser.optimiser = "sgd";  // Adam would make steps as large where there is only noise
  optimiser.learning_rate = 1;
}

void OwnModelSettings::bind(SettingsTable& table) {
  table.add("cohort", cohort, {0, 10'000'000}, "Users per round; 0: half of them, at most 10,000");
  engine.bind(table, false);
  optimiser.bind(table);
  budget.bind(table);
  budget.bind_following_bound(table);
}

namespace {

constexpr const char* own_settings_file = "settings.toml";

// A resumed run keeps its settings: rounds that are over had their noise.
Status keep_settings(const OwnModelRequest& request, const std::string& toml) {
  const fs::path file = request.run / own_settings_file;
  std::error_code problem;
  if (fs::exists(request.run) && !fs::is_empty(request.run, problem)) {
    if (!request.resume)
      return bad_input("{} exists: choose another folder, or continue the run in it", request.run.string());
    SOTTO_TRY(const auto before, read_file(file, 1 << 20));
    if (before != toml)
      return bad_input("{} has other settings ({}), and a resumed run keeps them", request.run.string(),
                       file.string());
    return {};
  }
  fs::create_directories(request.run, problem);
  if (problem) return failed("cannot create {}: {}", request.run.string(), problem.message());
  return {};
}

}  // namespace

Result<OwnModelOutcome> train_own_model(const OwnModelSettings& settings, model::FlatParameters& parameters,
                                        const OwnModelRequest& request) {
  if (request.users.size() < 2)
    return bad_input("training needs at least two users, not {}", request.users.size());
  if (settings.budget.on_devices())
    return bad_input("no device knows a model of one's own: leave out updates=device");
  const auto half = (static_cast<std::int64_t>(request.users.size()) + 1) / 2;
  const std::int64_t cohort = settings.cohort > 0 ? settings.cohort : std::min<std::int64_t>(half, 10'000);
  SOTTO_TRY(auto sampler, fl::CohortSampler::create(request.users, cohort, request.noise));
  SettingsTable table;
  OwnModelSettings stored = settings;
  stored.bind(table);
  SOTTO_CHECK(keep_settings(request, table.to_toml()));
  const auto shape =
      fl::shape_of(static_cast<std::uint64_t>(parameters.size()), sampler, settings.engine.rounds);
  auto begun = fl::SoundRounds::begin(settings.budget, shape, request.run);
  if (!begun) {
    std::error_code ignored;
    if (!request.resume) fs::remove(request.run, ignored);  // empty: nothing was written
    return tl::unexpected(std::move(begun).error());
  }
  fl::WholeModelFold fold(begun->plan(), parameters.values());
  SOTTO_TRY(fl::UpdateSource * source,
            begun->through(fold, request.updates, std::move(sampler), request.noise, request.seed));
  SOTTO_TRY(const auto optimiser, fl::make_optimiser(settings.optimiser, parameters.values()));
  SOTTO_CHECK(write_file_atomically(request.run / own_settings_file, table.to_toml()));
  fl::RoundEngine engine(settings.engine, request.run, parameters, *source, *optimiser);
  SOTTO_TRY(auto summary,
            engine.run(request.resume && fs::exists(request.run / "last.sotto"), {}, request.observe));
  OwnModelOutcome outcome{std::move(summary), begun->datasheet("own model")};
  outcome.privacy.reproducible = !request.noise.is_secret();
  SOTTO_CHECK(write_file_atomically(request.run / "privacy.txt", privacy::to_text(outcome.privacy)));
  SOTTO_CHECK(write_file_atomically(request.run / "privacy.json", privacy::to_json(outcome.privacy) + "\n"));
  return outcome;
}

}  // namespace sotto::recipes
