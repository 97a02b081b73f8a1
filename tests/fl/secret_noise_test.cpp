// Noise and cohorts that nobody can draw again, and rounds that are never released twice.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "fl/cohort_sampler.h"
#include "fl/gather.h"
#include "fl/round_engine.h"
#include "test_paths.h"

namespace sotto::fl {
namespace {

using privacy::NoiseOrigin;
using torch::Tensor;

std::vector<data::UserId> first_users(std::size_t count) {
  std::vector<data::UserId> users(count);
  std::iota(users.begin(), users.end(), data::UserId{0});
  return users;
}

class SameUpdates final : public UserUpdates {
 public:
  Status each_update(std::uint32_t, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override {
    for (const data::UserId user : users) SOTTO_CHECK(take({user, torch::full({6}, 0.25F), 0, 1}));
    return {};
  }
};

// 0: only rounding is drawn.
secagg::EncodingPlan plan_with(double noise_multiplier) {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = 6, settings.clip = 1, settings.denominator = settings.devices = 10;
  settings.noise_multiplier = noise_multiplier;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = secagg::finest_step(settings, 24).value() * 1.37;  // 0.25 is no multiple of it
  return secagg::EncodingPlan::create(settings).value();
}

std::vector<std::uint32_t> sum_of_a_round(const char* sums, const NoiseOrigin& origin,
                                          double noise_multiplier) {
  SameUpdates updates;
  const auto gather =
      SumSettings{.sums = sums}
          .gather({{CohortSampler::create(first_users(10), 10, 1).value(), every_round}, updates, origin})
          .value();
  return gather->sum({3, plan_with(noise_multiplier), 1}).value().groups.front().entries;
}

TEST(SecretNoise, NoTwoSumsAreAlikeAndReproducibleOnesAre) {
  for (const char* sums : {"simulated", "law"}) {
    for (const double noise : {1.0, 0.0}) {
      const auto sum = [&](const NoiseOrigin& origin) { return sum_of_a_round(sums, origin, noise); };
      EXPECT_NE(sum(NoiseOrigin::secret()), sum(NoiseOrigin::secret())) << sums;
      EXPECT_EQ(sum(NoiseOrigin::reproducible(5)), sum(NoiseOrigin::reproducible(5))) << sums;
    }
  }
}

TEST(SimulatedDevices, RefuseARoundWithLessNoiseThanTheyAgreedTo) {
  SameUpdates updates;
  SimulatedGather gather(
      {{CohortSampler::create(first_users(10), 10, 1).value(), every_round},
       updates,
       NoiseOrigin::secret(),
       {secagg::PlanAgreement::to(plan_with(1)), secagg::PlanAgreement::to(plan_with(0.5))}});
  EXPECT_TRUE(gather.sum({0, plan_with(1), 1}));
  EXPECT_FALSE(gather.sum({0, plan_with(0.5), 1}));
  for (const std::uint32_t round : {1U, 7U}) {
    EXPECT_TRUE(gather.sum({round, plan_with(0.5), 1})) << round;
    EXPECT_FALSE(gather.sum({round, plan_with(0.4), 1})) << round;
  }
}

TEST(SecretCohorts, CannotBeDrawnAgain) {
  const auto secret = CohortSampler::create(first_users(1000), 20, NoiseOrigin::secret()).value();
  EXPECT_NE(secret.sample(0), secret.sample(0));
  const auto known = CohortSampler::create(first_users(1000), 20, 7).value();
  EXPECT_EQ(known.sample(0), known.sample(0));
}

TEST(SecretCohorts, TheCapIsKeptAcrossAResumedRun) {
  const auto sampler = CohortSampler::create(first_users(6), 3, NoiseOrigin::secret()).value();
  CappedCohorts first(sampler, 2), resumed(sampler, 2);
  std::vector<std::uint32_t> times(6);
  const auto count = [&](CappedCohorts& cohorts, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round)
      for (const data::UserId user : cohorts.sample(round).present) ++times[user];
  };
  count(first, 3);
  ASSERT_EQ(first.state().size(), 1U);
  resumed.state().front()->copy_(*first.state().front());
  count(resumed, 40);
  EXPECT_EQ(times, std::vector<std::uint32_t>(6, 2)) << "everybody is drawn often, and comes twice";
}

// Adds secret noise and remembers which rounds it was asked for.
class Releases final : public UpdateSource {
 public:
  explicit Releases(std::int64_t size) : size_(size) {}
  Result<RoundUpdate> round(std::uint32_t round) override {
    asked.push_back(round);
    RoundUpdate update;
    update.direction = torch::zeros({size_});
    SecureRandom random;
    for (std::int64_t i = 0; i < size_; ++i)
      update.direction[i] = static_cast<double>(random() >> 11) * 0x1p-53;
    update.loss = update.direction[0].item<double>();
    return update;
  }
  std::vector<std::uint32_t> asked;

 private:
  std::int64_t size_;
};

struct Numbers : torch::nn::Module {
  Numbers() { register_parameter("numbers", torch::zeros({8})); }
};

struct Engine {
  explicit Engine(fs::path folder) : run(std::move(folder)) {}

  RunSummary train(std::int64_t rounds, bool resume, const Validate& validate = {},
                   const Observe& observe = {}) {
    EngineSettings settings;
    settings.rounds = rounds, settings.checkpoint_every = 3, settings.evaluate_every = 1;
    RoundEngine engine(settings, run, parameters, source, *optimiser);
    return engine.run(resume, validate, observe).value();
  }
  Checkpoint stored(const char* name) const {
    return load_checkpoint(run / name, parameters.layout()).value();
  }

  fs::path run;
  Numbers model;
  model::FlatParameters parameters{model};
  Releases source{parameters.size()};
  std::unique_ptr<ServerOptimiser> optimiser =
      make_optimiser({.optimiser = "sgd", .learning_rate = 1}, parameters.values()).value();
};

TEST(SecretRounds, NothingOfARoundIsOnTheDiskBeforeItsCheckpoint) {
  const TempFolder folder;
  Engine engine(folder.path());
  std::size_t ahead = 0;
  engine.train(8, false, {}, [&](const RoundRecord&) {
    const auto logged = read_run_log(folder / "log.jsonl");
    const std::uint32_t saved =
        fs::exists(folder / "last.sotto") ? engine.stored("last.sotto").rounds_done : 0;
    for (const RoundRecord& line : logged) ahead += line.round > saved ? 1 : 0;
  });
  EXPECT_EQ(ahead, 0U) << "a resumed run would draw these rounds again";
  EXPECT_EQ(read_run_log(folder / "log.jsonl").size(), 8U);
}

TEST(SecretRounds, KilledBetweenCheckpointAndLogARunDrawsNoRoundAgain) {
  const TempFolder folder;
  Engine engine(folder.path());
  engine.train(6, false);
  const auto whole = read_run_log(folder / "log.jsonl");
  const Tensor saved = engine.parameters.values().clone();
  {
    std::ofstream log(folder / "log.jsonl", std::ios::trunc);  // rounds 4 to 6 did not get there
    for (std::size_t i = 0; i < 3; ++i) log << to_json_line(whole[i]) << '\n';
  }
  fs::remove(folder / "best.sotto");
  Engine resumed(folder.path());
  const auto summary = resumed.train(6, true);
  EXPECT_TRUE(resumed.source.asked.empty()) << "all of them were released already";
  EXPECT_TRUE(resumed.parameters.values().equal(saved));
  ASSERT_EQ(summary.rounds.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(summary.rounds[i].loss, whole[i].loss);
  EXPECT_EQ(read_run_log(folder / "log.jsonl").size(), 6U);
  EXPECT_TRUE(resumed.stored("best.sotto").parameters.equal(saved));
}

TEST(SecretRounds, KilledBeforeTheCheckpointNothingOfTheRoundsIsLeft) {
  const TempFolder folder, earlier;
  Engine engine(folder.path());
  // What the folder holds after round 5: the checkpoint and the log of round 3.
  engine.train(6, false, {}, [&](const RoundRecord& record) {
    if (record.round == 5) fs::copy(folder.path(), earlier.path(), fs::copy_options::recursive);
  });
  Engine resumed(earlier.path());
  EXPECT_EQ(resumed.stored("last.sotto").rounds_done, 3U);
  EXPECT_EQ(read_run_log(earlier / "log.jsonl").size(), 3U);
  EXPECT_EQ(resumed.train(6, true).rounds.size(), 6U);
  EXPECT_EQ(resumed.source.asked, (std::vector<std::uint32_t>{3, 4, 5}));
}

TEST(SecretRounds, KilledBehindTheCheckpointOfTheBestRoundARunPublishesIt) {
  const TempFolder folder, earlier;
  Engine engine(folder.path());
  std::uint32_t looks = 0;
  const Validate second_is_best = [&] {
    return metrics::ImpressionMetrics{++looks == 2 ? 0.9 : 0.5, 0, 0, 0};
  };
  engine.train(2, false, second_is_best);
  const Tensor best = engine.parameters.values().clone();
  fs::remove(folder / "best.sotto");  // the kill came before it
  Engine resumed(folder.path());
  EXPECT_EQ(resumed.train(4, true, second_is_best).best_round, 2U);
  EXPECT_TRUE(resumed.stored("best.sotto").parameters.equal(best));
  EXPECT_TRUE(resumed.parameters.values().equal(best));
}

TEST(SecretRounds, WhatIsPublishedDoesNotTellWhoTookPart) {
  const TempFolder folder;
  Engine engine(folder.path());
  engine.optimiser = make_optimiser({.optimiser = "adam"}, engine.parameters.values()).value();
  engine.train(2, false);
  EXPECT_FALSE(engine.stored("last.sotto").optimiser.empty());
  EXPECT_TRUE(engine.stored("best.sotto").optimiser.empty());
}

}  // namespace
}  // namespace sotto::fl
