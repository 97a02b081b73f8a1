// A model of one's own on the sound path, and what its folder binds a resumed run to: the epsilon it prints
// holds for all of its rounds or is not printed.

#include "recipes/own_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "fl/run_log.h"
#include "test_paths.h"

namespace sotto::recipes {
namespace {

using ::testing::HasSubstr;

struct Numbers : torch::nn::Module {
  explicit Numbers(std::int64_t size) { register_parameter("values", torch::zeros({size})); }
};

// Everybody pulls towards 0.1; remembers the rounds in which somebody was asked.
class Pull final : public fl::UserUpdates {
 public:
  explicit Pull(std::int64_t size) : size_(size) {}
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const fl::UserUpdate&)>& take) override {
    if (round >= stop_before) return failed("stopped");
    asked.insert(round);
    for (const data::UserId user : users) SOTTO_CHECK(take({user, torch::full({size_}, 0.1F), 0.5, 1}));
    return {};
  }
  std::set<std::uint32_t> asked;
  std::uint32_t stop_before = std::numeric_limits<std::uint32_t>::max();

 private:
  std::int64_t size_;
};

struct Begun {
  fs::path run;
  std::optional<std::uint64_t> simulation_seed;
  bool resume = false;
  std::size_t users = 40;
  std::int64_t parameters = 3, checkpoint_every = 1;
  std::uint32_t stop_before = std::numeric_limits<std::uint32_t>::max();
};

struct Trained {
  Result<OwnModelOutcome> outcome;
  std::set<std::uint32_t> asked;
};

Trained train(const Begun& begun) {
  OwnModelSettings settings;
  settings.cohort = 20;
  settings.engine.rounds = 4, settings.engine.checkpoint_every = begun.checkpoint_every;
  settings.budget.epsilon = 20, settings.budget.delta = 1e-3;
  Numbers module(begun.parameters);
  model::FlatParameters parameters(module);
  Pull updates(begun.parameters);
  updates.stop_before = begun.stop_before;
  std::vector<data::UserId> users(begun.users);
  std::iota(users.begin(), users.end(), data::UserId{1});
  auto outcome = train_own_model(
      settings, parameters,
      {.run = begun.run,
       .users = users,
       .updates = updates,
       .noise = begun.simulation_seed ? privacy::NoiseOrigin::reproducible(*begun.simulation_seed)
                                      : privacy::NoiseOrigin::secret(),
       .resume = begun.resume});
  return {std::move(outcome), updates.asked};
}

std::string refusal(const Begun& begun) {
  const Trained trained = train(begun);
  EXPECT_TRUE(trained.asked.empty()) << "nobody may be asked for a run that is refused";
  return trained.outcome ? "accepted" : trained.outcome.error().message;
}

class OwnModel : public ::testing::Test {
 protected:
  // Stopped in its third round, with two behind it.
  Begun stopped(std::optional<std::uint64_t> simulation_seed = {}) {
    Begun begun{.run = folder_ / "run", .simulation_seed = simulation_seed, .stop_before = 2};
    EXPECT_FALSE(train(begun).outcome);
    EXPECT_EQ(fl::read_run_log(begun.run / "log.jsonl").size(), 2U);
    begun.resume = true;
    begun.stop_before = std::numeric_limits<std::uint32_t>::max();
    return begun;
  }
  std::string file(const char* name) const { return read_file(folder_ / "run" / name, 1 << 20).value(); }
  TempFolder folder_;
};

TEST_F(OwnModel, AResumedRunAsksForTheRoundsThatAreLeft) {
  const Begun begun = stopped();
  const std::string before = file("log.jsonl");
  const Trained trained = train(begun);
  ASSERT_TRUE(trained.outcome) << trained.outcome.error().message;
  EXPECT_EQ(trained.asked, (std::set<std::uint32_t>{2, 3}));
  EXPECT_EQ(trained.outcome->summary.rounds.size(), 4U);
  EXPECT_TRUE(file("log.jsonl").starts_with(before)) << "rounds that were released are not drawn again";
  EXPECT_FALSE(trained.outcome->privacy.reproducible);
}

// Otherwise the rounds before have a noise that whoever knows the seed takes away, under a page with an
// epsilon.
TEST_F(OwnModel, ASimulationIsNotFinishedAsAPrivateRun) {
  Begun begun = stopped(7);
  begun.simulation_seed.reset();
  EXPECT_THAT(refusal(begun), HasSubstr("resume it with simulation_seed=7"));
  EXPECT_FALSE(fs::exists(begun.run / "privacy.json"));
  begun.simulation_seed = 8;
  EXPECT_THAT(refusal(begun), HasSubstr("resume it with simulation_seed=7"));
  begun.simulation_seed = 7;
  ASSERT_TRUE(train(begun).outcome);
  const auto page = nlohmann::json::parse(file("privacy.json"));
  ASSERT_FALSE(page.at("simulation").is_null());
  EXPECT_THAT(page.at("simulation").get<std::string>(), HasSubstr("no ε holds for these files"));
}

TEST_F(OwnModel, APrivateRunIsNotFinishedAsASimulation) {
  Begun begun = stopped();
  begun.simulation_seed = 7;
  EXPECT_THAT(refusal(begun), HasSubstr("resume it without simulation_seed"));
}

TEST_F(OwnModel, ReleasedRoundsAreNeverDrawnAgain) {
  for (const char* released : {"best.sotto", "log.jsonl"}) {
    Begun begun{.run = folder_ / released};
    ASSERT_TRUE(train(begun).outcome);
    for (const char* other : {"last.sotto", "best.sotto", "log.jsonl"})
      if (std::string(released) != other) fs::remove(begun.run / other);
    begun.resume = true;
    EXPECT_THAT(refusal(begun), HasSubstr("release them twice")) << released;
  }
}

TEST_F(OwnModel, AnOlderCheckpointIsNotGoneOnFrom) {
  Begun begun = stopped();
  const fs::path older = folder_ / "older.sotto";
  fs::copy_file(begun.run / "last.sotto", older);
  ASSERT_TRUE(train(begun).outcome);
  const std::string whole = file("log.jsonl");
  fs::copy_file(older, begun.run / "last.sotto", fs::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(begun), HasSubstr("tells of 4 rounds"));
  EXPECT_EQ(file("log.jsonl"), whole);
}

TEST_F(OwnModel, AResumedRunKeepsItsUsersAndItsModel) {
  const Begun begun = stopped();
  Begun fewer = begun, larger = begun;
  fewer.users = 39;
  EXPECT_THAT(refusal(fewer), HasSubstr("was begun with 40 users"));
  larger.parameters = 4;
  EXPECT_THAT(refusal(larger), HasSubstr("trains 3 parameters"));
  EXPECT_TRUE(train(begun).outcome);
}

TEST_F(OwnModel, KilledBeforeItsFirstRoundARunStartsAgain) {
  Begun begun = stopped();
  for (const char* later : {"last.sotto", "best.sotto", "log.jsonl", "training.json"})
    fs::remove(begun.run / later);
  const Trained trained = train(begun);
  ASSERT_TRUE(trained.outcome) << trained.outcome.error().message;
  EXPECT_EQ(trained.asked.size(), 4U);
}

TEST_F(OwnModel, AFolderOfSomethingElseIsNotResumed) {
  fs::create_directories(folder_ / "run");
  ASSERT_TRUE(write_file_atomically(folder_ / "run/letter.txt", "dear"));
  EXPECT_THAT(refusal({.run = folder_ / "run", .resume = true}), HasSubstr("training.json is missing"));
}

}  // namespace
}  // namespace sotto::recipes
