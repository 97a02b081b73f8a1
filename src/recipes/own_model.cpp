#include "recipes/own_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/binary_file.h"
#include "fl/cohort_sampler.h"
#include "fl/device_fold.h"
#include "fl/run_log.h"

namespace sotto::recipes {

using nlohmann::json;

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

constexpr const char *settings_file = "settings.toml", *description_file = "training.json";

// What a resumed run keeps besides its settings: an epsilon is about these people, and about noise that
// nobody can draw again in any round.
json describe(const OwnModelRequest& request, const model::FlatParameters& parameters) {
  const auto users = binary_format::checksum(std::as_bytes(std::span<const data::UserId>(request.users)));
  return {{"simulation_seed", request.noise.is_secret() ? json() : json(*request.noise.seed())},
          {"users", request.users.size()},
          {"users_fingerprint", fmt::format("{:016x}", users)},
          {"parameters", parameters.size()}};
}

Status check_same(const fs::path& run, const json& before, const json& now) {
  const json seed = before.value("simulation_seed", json("none told"));
  if (seed != now.at("simulation_seed"))
    return bad_input("{} has drawn {} noise so far, and all rounds of a run draw alike: resume it {}",
                     run.string(), seed.is_null() ? "secret" : "a simulation's",
                     seed.is_null() ? "without simulation_seed" : "with simulation_seed=" + seed.dump());
  if (before.value("users", json()) != now.at("users") ||
      before.value("users_fingerprint", json()) != now.at("users_fingerprint"))
    return bad_input(
        "{} was begun with {} users, not with these {}: its noise, cohorts and caps are theirs. Resume it "
        "with the same, or train anew in another folder",
        run.string(), before.value("users", json()).dump(), now.at("users").dump());
  if (before.value("parameters", json()) != now.at("parameters"))
    return bad_input("{} trains {} parameters, and the model given has {}", run.string(),
                     before.value("parameters", json()).dump(), now.at("parameters").dump());
  return {};
}

// Killed while its first files were written.
bool barely_begun(const fs::path& run) {
  for (const auto& entry : fs::directory_iterator(run))
    if (entry.path().filename() != settings_file && entry.path().filename() != "privacy.toml") return false;
  return true;
}

// Devices fetch what they send a gradient of, as 32-bit floats.
class FoldOfItsOwn final : public fl::RoundFold {
 public:
  FoldOfItsOwn(secagg::EncodingPlan plan, const OwnFold& own) : plan_(std::move(plan)), own_(own) {}
  Result<fl::RoundTask> open(std::uint32_t) override {
    return fl::RoundTask{plan_, own_.dimension * sizeof(float)};
  }
  Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean, const fl::Gathered&) override {
    return own_.direction(round, mean);
  }

 private:
  secagg::EncodingPlan plan_;
  const OwnFold& own_;
};

// A resumed run keeps its settings: rounds that are over had their noise.
Status check_folder(const OwnModelRequest& request, const std::string& toml, const json& description) {
  std::error_code problem;
  if (!fs::exists(request.run) || fs::is_empty(request.run, problem)) {
    fs::create_directories(request.run, problem);
    if (problem) return failed("cannot create {}: {}", request.run.string(), problem.message());
    return {};
  }
  if (!request.resume)
    return bad_input("{} exists: choose another folder, or continue the run in it", request.run.string());
  if (barely_begun(request.run)) return {};
  if (!fs::exists(request.run / description_file))
    return bad_input("{} holds no run of a model of one's own: {} is missing", request.run.string(),
                     description_file);
  SOTTO_TRY(const auto before, read_file(request.run / settings_file, 1 << 20));
  if (before != toml)
    return bad_input("{} has other settings ({}), and a resumed run keeps them", request.run.string(),
                     (request.run / settings_file).string());
  SOTTO_TRY(const auto text, read_file(request.run / description_file, 1 << 16));
  const json stored = json::parse(text, nullptr, false);
  if (!stored.is_object()) return bad_input("{} is damaged", (request.run / description_file).string());
  SOTTO_CHECK(check_same(request.run, stored, description));
  return fl::check_nothing_is_released_twice(request.run);
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
  const json description = describe(request, parameters);
  SOTTO_CHECK(check_folder(request, table.to_toml(), description));
  const std::uint64_t dimension =
      request.fold ? request.fold->dimension : static_cast<std::uint64_t>(parameters.size());
  const auto shape = fl::shape_of(dimension, sampler, settings.engine.rounds);
  auto begun = fl::SoundRounds::begin(settings.budget, shape, request.run);
  if (!begun) {
    std::error_code ignored;
    if (!request.resume) fs::remove(request.run, ignored);  // empty: nothing was written
    return tl::unexpected(std::move(begun).error());
  }
  std::unique_ptr<fl::RoundFold> fold;
  if (request.fold) {
    fold = std::make_unique<FoldOfItsOwn>(begun->plan(), *request.fold);
  } else {
    fold = std::make_unique<fl::WholeModelFold>(begun->plan(), parameters.values());
  }
  SOTTO_TRY(fl::UpdateSource * source,
            begun->through(*fold, request.updates, std::move(sampler), request.noise, request.seed));
  SOTTO_TRY(const auto optimiser, fl::make_optimiser(settings.optimiser, parameters.values()));
  SOTTO_CHECK(write_file_atomically(request.run / settings_file, table.to_toml()));
  // Last: with it, the run can be resumed.
  SOTTO_CHECK(write_file_atomically(request.run / description_file, description.dump(2) + "\n"));
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
