// dp-svd from the command's point of view.

#include <gtest/gtest.h>

#include "base/binary_file.h"
#include "base/interrupt.h"
#include "eval/training_run.h"
#include "fl/run_log.h"
#include "fl/tiny_interactions.h"
#include "privacy/accounting/plan.h"

namespace sotto::eval {
namespace {

TrainJob job_of(const fs::path& out, const std::string& epsilon = "16") {
  TrainJob job;
  job.recipe = "dp-svd";
  job.out = out;
  job.epsilon = epsilon;
  job.reproducible = true;
  job.assignments = {"popularity=1"};
  return job;
}

std::string refusal(const TrainJob& job, const data::Dataset& dataset) {
  const auto refused = train_run(job, dataset, {});
  return refused ? "" : refused.error().message;
}

TEST(DpSvd, LearnsTheTastesWithinItsBudgetAndGivesItsGoldenMetrics) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const auto outcome = train_run(job_of(runs / "run"), dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->held_out);
  EXPECT_GT(outcome->held_out->mean.hits[0], outcome->held_out->beside[0].metrics.hits[0])
      << "popularity does not know the two tastes";
  EXPECT_EQ(outcome->held_out->mean.hits[0], 1);
  EXPECT_NEAR(outcome->held_out->mean.ndcg[0], 0.786, 0.005);
  ASSERT_TRUE(outcome->privacy);
  EXPECT_LE(*outcome->privacy->epsilon_published, 16);
  EXPECT_GT(*outcome->privacy->epsilon_published, 15.5);
  EXPECT_EQ(outcome->privacy->epsilon_server, outcome->privacy->epsilon_published);
  EXPECT_EQ(outcome->summary.rounds.size(), 2U);

  const auto again = evaluate_run(runs / "run", dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::HeldOutReport>(*again).mean.hits[0], outcome->held_out->mean.hits[0]);

  privacy::PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  ASSERT_TRUE(table.load_toml(runs / "run" / "privacy.toml"));
  EXPECT_NEAR(privacy::account(plan)->published.epsilon, *outcome->privacy->epsilon_published, 1e-3);
}

// What they are worth shows with more users: tests/fl/pair_fold_test.cpp.
TEST(DpSvd, ReckonsWithFeaturesOfItemsUnlessToldNotTo) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const auto vectors = [&](const std::string& features) {
    TrainJob job = job_of(runs / features);
    job.assignments.push_back("features=" + features);
    const auto outcome = train_run(job, dataset, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    const auto best = BinaryFileReader::open(job.out / "best.sotto", "checkpoint", 2).value();
    const auto numbers = best.section<float>("parameters").value();
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  EXPECT_NE(vectors("true"), vectors("false"));
}

TEST(DpSvd, WithoutNoiseItSaysThatNothingHolds) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  TrainJob job = job_of(runs / "run", "");
  job.assignments.emplace_back("noise=none");
  const auto outcome = train_run(job, dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->privacy);
  EXPECT_FALSE(fs::exists(runs / "run" / "privacy.toml"));
  EXPECT_EQ(outcome->held_out->mean.hits[0], 1);
}

TEST(DpSvd, ARunStoppedAfterTheCountsGoesOnBitForBit) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  ASSERT_TRUE(train_run(job_of(runs / "whole"), dataset, {}));
  // The signal comes while the pairs are summed, which then counts for nothing.
  const auto stopped = train_run(job_of(runs / "parts"), dataset,
                                 {.round = [](const fl::RoundRecord&) { set_interrupted(true); }});
  set_interrupted(false);
  ASSERT_TRUE(stopped) << stopped.error().message;
  ASSERT_TRUE(stopped->summary.interrupted);
  ASSERT_EQ(stopped->summary.rounds.size(), 1U);
  TrainJob rest = job_of(runs / "parts", "");
  rest.assignments.clear();
  rest.resume = true;
  const auto resumed = train_run(rest, dataset, {});
  ASSERT_TRUE(resumed) << resumed.error().message;
  ASSERT_EQ(resumed->summary.rounds.size(), 2U);

  const auto parameters = [&](const char* run) {
    const std::string layout = "counts:12 vectors:768 ";
    return fl::load_checkpoint(runs / run / "best.sotto", layout).value().parameters;
  };
  EXPECT_TRUE(torch::equal(parameters("whole"), parameters("parts")));
}

TEST(DpSvd, RefusesWhatItCannotKeepWithAdvice) {
  const TempFolder data, runs, news;
  const data::Dataset dataset = fl::testing::tiny_ratings(data);
  EXPECT_NE(refusal(job_of(runs / "a", ""), dataset).find("--epsilon"), std::string::npos);
  TrainJob job = job_of(runs / "b");
  job.rounds = 3;
  EXPECT_NE(refusal(job, dataset).find("two rounds"), std::string::npos);
  job = job_of(runs / "c");
  job.assignments.emplace_back("noise=none");
  EXPECT_NE(refusal(job, dataset).find("noise=none"), std::string::npos);
  data::DatasetBuilder builder("news", "test");
  builder.add_item({.id = "a", .title = "a"});
  ASSERT_TRUE(builder.write(news.path()));
  const data::Dataset articles = data::Dataset::open(news.path()).value();
  EXPECT_NE(refusal(job_of(runs / "d"), articles).find("no interactions"), std::string::npos);
  EXPECT_FALSE(fs::exists(runs / "a"));
}

}  // namespace
}  // namespace sotto::eval
