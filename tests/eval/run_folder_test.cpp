// A run folder belongs to its data and its settings: what is refused changes no byte of it, and what was
// killed goes on from where nothing was released.

#include <fcntl.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"
#include "base/interrupt.h"
#include "eval/recommender_evaluator.h"
#include "eval/training_run.h"
#include "fl/tiny_interactions.h"
#include "fl/tiny_news.h"

namespace sotto::eval {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::vector<std::string> small_run = {"cohort=4",       "word_size=8", "heads=2",         "head_size=4",
                                            "pooling_size=4", "negatives=2", "train_words=true"};

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename()] = read_file(entry.path(), 1 << 24).value();
  return files;
}

template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "nothing was refused" : result.error().message;
}

class RunFolder : public ::testing::Test {
 protected:
  ~RunFolder() override { set_interrupted(false); }
  TrainJob private_job(const std::string& out, std::int64_t rounds = 2) const {
    TrainJob job;
    job.recipe = "fednewsrec";
    job.data = data_.path();
    job.out = runs_ / out;
    job.rounds = rounds;
    job.epsilon = "50";
    job.assignments = small_run;
    return job;
  }
  TrainJob resumed(const std::string& out) const {
    TrainJob job;
    job.recipe = "fednewsrec", job.data = data_.path(), job.out = runs_ / out, job.resume = true;
    return job;
  }

  TempFolder data_, other_, runs_;
  data::Dataset dataset_ = fl::testing::tiny_news(data_), strangers_ = fl::testing::tiny_news(other_, 14);
};

TEST_F(RunFolder, ARefusedResumeChangesNoByte) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  const auto before = files_of(runs_ / "run");
  TrainJob longer = resumed("run");
  longer.rounds = 40;
  EXPECT_THAT(refusal(train_run(longer, dataset_, {})), HasSubstr("keeps its number of rounds"));
  EXPECT_EQ(files_of(runs_ / "run"), before);
  TrainJob elsewhere = resumed("run");
  elsewhere.data = other_.path();
  EXPECT_THAT(refusal(train_run(elsewhere, strangers_, {})), HasSubstr("holds other data"));
  EXPECT_EQ(files_of(runs_ / "run"), before);
  TrainJob seeded = resumed("run");
  seeded.reproducible = true;
  EXPECT_THAT(refusal(train_run(seeded, dataset_, {})), HasSubstr("leave out --reproducible"));
  EXPECT_EQ(files_of(runs_ / "run"), before);
  TrainJob other_budget = resumed("run");
  other_budget.epsilon = "9";
  EXPECT_THAT(refusal(train_run(other_budget, dataset_, {})), HasSubstr("leave out epsilon=9"));
  TrainJob shorter = resumed("run");
  shorter.rounds = 1;
  EXPECT_THAT(refusal(train_run(shorter, dataset_, {})), HasSubstr("has done 2 rounds"));
  EXPECT_EQ(files_of(runs_ / "run"), before);
  TrainJob mistyped = resumed("run");
  mistyped.assignments = {"chort=3"};
  EXPECT_THAT(refusal(train_run(mistyped, dataset_, {})), HasSubstr("did you mean 'cohort'"));
  EXPECT_EQ(files_of(runs_ / "run"), before);
  EXPECT_TRUE(train_run(resumed("run"), dataset_, {})) << "what is advertised instead works";
  TrainJob same = private_job("run");
  same.resume = true;
  EXPECT_TRUE(train_run(same, dataset_, {})) << "the command that began it, with --resume";
}

TEST_F(RunFolder, TestedAgainItKeepsTheTimeAtWhichItsTrainingEnded) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  const fs::path file = runs_ / "run/result.json";
  auto result = nlohmann::json::parse(read_file(file).value());
  result["ended"] = "1999-12-31 23:59 UTC";
  ASSERT_TRUE(write_file_atomically(file, result.dump()));
  ASSERT_TRUE(train_run(resumed("run"), dataset_, {}));
  EXPECT_EQ(nlohmann::json::parse(read_file(file).value()).at("ended"), "1999-12-31 23:59 UTC");
}

TEST_F(RunFolder, WhatNeverBeganIsNotResumed) {
  TrainJob job = private_job("never");
  job.resume = true;
  EXPECT_THAT(refusal(train_run(job, dataset_, {})), HasSubstr("without --resume starts it"));
  EXPECT_FALSE(fs::exists(runs_ / "never"));
}

TEST_F(RunFolder, ARefusedRunLeavesAnEmptyFolderEmpty) {
  fs::create_directories(runs_ / "run");
  TrainJob job = private_job("run");
  job.epsilon = "";
  EXPECT_THAT(refusal(train_run(job, dataset_, {})), HasSubstr("--epsilon"));
  EXPECT_TRUE(fs::is_empty(runs_ / "run"));
}

// What a process leaves that is killed before its first checkpoint.
void forget_rounds(const fs::path& run) {
  for (const char* later :
       {"last.sotto", "best.sotto", "log.jsonl", "result.json", "privacy.txt", "privacy.json"})
    fs::remove(run / later);
}

TEST_F(RunFolder, KilledBeforeItsFirstCheckpointARunStartsAgain) {
  TrainJob job = private_job("run");
  job.reproducible = true;  // so that the next start can be held against the first
  ASSERT_TRUE(train_run(job, dataset_, {}));
  const auto whole = read_file(runs_ / "run/best.sotto", 1 << 24).value();
  for (const TrainJob& next : {resumed("run"), job}) {
    forget_rounds(runs_ / "run");
    const auto again = train_run(next, dataset_, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->summary.rounds.size(), 2U);
    EXPECT_EQ(read_file(runs_ / "run/best.sotto", 1 << 24).value().size(), whole.size());
    EXPECT_TRUE(fs::exists(runs_ / "run/result.json"));
  }
  EXPECT_THAT(refusal(train_run(job, dataset_, {})), HasSubstr("continue it with --resume"))
      << "a run with rounds is not begun again";
}

TEST_F(RunFolder, AnotherCommandDoesNotTakeTheFolderOfAKilledRun) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  forget_rounds(runs_ / "run");
  const auto before = files_of(runs_ / "run");
  TrainJob other = private_job("run");
  other.epsilon = "9";
  EXPECT_THAT(refusal(train_run(other, dataset_, {})), HasSubstr("its epsilon was 50.0 instead of 9.0"));
  other = private_job("run");
  other.seed = 7;
  EXPECT_THAT(refusal(train_run(other, dataset_, {})), HasSubstr("its --seed was 1 instead of 7"));
  other = private_job("run");
  other.recipe = "privaterec";
  EXPECT_THAT(refusal(train_run(other, dataset_, {})), HasSubstr("its recipe was fednewsrec"));
  other = private_job("run");
  other.data = other_.path();
  EXPECT_THAT(refusal(train_run(other, strangers_, {})), HasSubstr("holds other data"));
  EXPECT_EQ(files_of(runs_ / "run"), before);
}

TEST_F(RunFolder, KilledWhileItsFirstFilesAreWrittenARunStartsAgain) {
  for (const bool resume : {false, true}) {
    const fs::path run = runs_ / (resume ? "resumed" : "plain");
    fs::create_directories(run);
    ASSERT_TRUE(write_file_atomically(run / "settings.toml", "rounds = 9\n"));
    ASSERT_TRUE(write_file_atomically(run / ".settings.toml.sotto-77-1", "roun"));
    ASSERT_TRUE(write_file_atomically(run / ".run.json.sotto-77-2", "{"));
    TrainJob job = private_job(run.filename());
    job.resume = resume;
    const auto outcome = train_run(job, dataset_, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->summary.rounds.size(), 2U);
    EXPECT_FALSE(fs::exists(run / ".settings.toml.sotto-77-1"));
    EXPECT_FALSE(fs::exists(run / ".run.json.sotto-77-2"));
  }
}

TEST_F(RunFolder, AFolderOfSomethingElseIsNoRunThatWasKilled) {
  fs::create_directories(runs_ / "run");
  ASSERT_TRUE(write_file_atomically(runs_ / "run/.notes.txt", "mine"));
  EXPECT_THAT(refusal(train_run(private_job("run"), dataset_, {})), HasSubstr("choose another --out"));
}

TEST_F(RunFolder, AResumedRunRemovesHalfACheckpointOfAKilledOne) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  ASSERT_TRUE(write_file_atomically(runs_ / "run/.last.sotto.sotto-77-3", "half"));
  ASSERT_TRUE(train_run(resumed("run"), dataset_, {}));
  EXPECT_FALSE(fs::exists(runs_ / "run/.last.sotto.sotto-77-3"));
}

TEST_F(RunFolder, TwoProcessesDoNotTrainInOneFolder) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  forget_rounds(runs_ / "run");
  const auto before = files_of(runs_ / "run");
  {
    const auto other = Descriptor::open(runs_ / "run", O_RDONLY | O_DIRECTORY, "open").value();
    ASSERT_TRUE(other.lock(runs_ / "run").value());
    EXPECT_THAT(refusal(train_run(private_job("run"), dataset_, {})),
                HasSubstr("trained by another process"));
  }
  EXPECT_EQ(files_of(runs_ / "run"), before);
  EXPECT_TRUE(train_run(private_job("run"), dataset_, {})) << "the other one was killed";
}

TEST_F(RunFolder, ReleasedRoundsAreNeverDrawnAgain) {
  for (const char* released : {"best.sotto", "log.jsonl"}) {
    const std::string name = released;
    ASSERT_TRUE(train_run(private_job(name), dataset_, {}));
    for (const char* other : {"last.sotto", "best.sotto", "log.jsonl"})
      if (name != other) fs::remove(runs_ / name / other);
    const auto before = files_of(runs_ / name);
    EXPECT_THAT(refusal(train_run(resumed(name), dataset_, {})), HasSubstr("release them twice"));
    EXPECT_EQ(files_of(runs_ / name), before);
  }
}

TEST_F(RunFolder, KnowsItsDataByContentAndFromEverywhere) {
  TrainJob job = private_job("run");
  job.data = fs::relative(data_.path());
  ASSERT_TRUE(train_run(job, dataset_, {}));
  const json description = json::parse(read_file(runs_ / "run/run.json").value());
  EXPECT_TRUE(fs::path(description.at("data").get<std::string>()).is_absolute());
  EXPECT_TRUE(fs::equivalent(description.at("data").get<std::string>(), data_.path()));
  const TempFolder moved;
  fs::copy(data_.path(), moved / "there");
  EXPECT_TRUE(evaluate_run(runs_ / "run", data::Dataset::open(moved / "there").value()));
}

TEST_F(RunFolder, OtherDataIsMeasuredOnlyOnPurpose) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  EXPECT_THAT(refusal(evaluate_run(runs_ / "run", strangers_)), HasSubstr("was trained on tiny"));
  EXPECT_TRUE(evaluate_run({.run = runs_ / "run", .other_data = true}, strangers_));
  const auto served = recipes::check_data_of_run(runs_ / "run", strangers_, other_.path());
  ASSERT_FALSE(served);
  EXPECT_THAT(served.error().message, HasSubstr(other_.path().string()));
}

TEST_F(RunFolder, ATestMayBeOfSomeImpressionsTheSameOnesEachTime) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  const auto tested = [&](std::uint64_t impressions) {
    return std::get<metrics::MeanImpressionMetrics>(
        evaluate_run({.run = runs_ / "run", .test_impressions = impressions}, dataset_).value());
  };
  EXPECT_EQ(tested(0).counted, 12U);
  EXPECT_EQ(tested(100).counted, 12U);
  EXPECT_EQ(tested(5).counted, 5U);
  EXPECT_EQ(tested(5).mean.auc, tested(5).mean.auc);
  EXPECT_GE(tested(5).error.auc, 0);
  TrainJob some = private_job("some");
  some.test_impressions = 5;
  EXPECT_EQ(train_run(some, dataset_, {})->test.counted, 5U);
  const json stored = json::parse(read_file(runs_ / "some/result.json").value());
  EXPECT_EQ(stored.at("impressions"), 5);
  EXPECT_EQ(stored.at("unit_of_metrics"), "share, 0 to 1");
}

TEST(RunFolderOfInteractions, ATestMayBeOfSomeUsers) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  TrainJob job;
  job.recipe = "dp-svd", job.out = runs / "run", job.epsilon = "16", job.test_impressions = 3;
  const auto outcome = train_run(job, dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->held_out->users, 3U);
  EXPECT_GT(std::get<metrics::HeldOutReport>(evaluate_run(runs / "run", dataset).value()).users, 3U);
}

TEST_F(RunFolder, StoppedWhileItIsTestedARunIsTestedWhenItIsResumed) {
  const auto stopped = train_run(private_job("run"), dataset_, {.trained = [] { set_interrupted(true); }});
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->summary.interrupted);
  EXPECT_FALSE(fs::exists(runs_ / "run/result.json"));
  EXPECT_THAT(refusal(evaluate_run(runs_ / "run", dataset_)), HasSubstr("stopped"));
  set_interrupted(false);
  const auto tested = train_run(resumed("run"), dataset_, {});
  ASSERT_TRUE(tested) << tested.error().message;
  EXPECT_EQ(tested->summary.rounds.size(), 2U);
  EXPECT_EQ(tested->test.counted, 12U);
  EXPECT_TRUE(fs::exists(runs_ / "run/result.json"));
}

TEST_F(RunFolder, AnInterruptInTheMiddleOfATestLeavesNoNumbers) {
  ASSERT_TRUE(train_run(private_job("run"), dataset_, {}));
  std::size_t ranked = 0;
  const auto stopped =
      evaluate_run({.run = runs_ / "run",
                    .evaluate =
                        [&](model::RankingModel& model, const data::Dataset& data,
                            std::span<const std::uint32_t> impressions, std::size_t max_history) {
                          const auto half = impressions.first(impressions.size() / 2);
                          ranked = evaluate_recommender(model, data, half, max_history).counted;
                          set_interrupted(true);
                          return evaluate_recommender(model, data, impressions, max_history);
                        }},
                   dataset_);
  set_interrupted(false);
  EXPECT_GT(ranked, 0U) << "it had begun";
  EXPECT_THAT(refusal(stopped), HasSubstr("stopped"));
  EXPECT_TRUE(evaluate_run(runs_ / "run", dataset_));
}

TEST_F(RunFolder, OneValueInTwoPlacesIsRefused) {
  TrainJob job = private_job("run");
  job.assignments.push_back("epsilon=4");
  EXPECT_THAT(refusal(train_run(job, dataset_, {})),
              HasSubstr("--epsilon 50 and --set epsilon=4 contradict"));
  job.assignments.back() = "rounds=7";
  EXPECT_THAT(refusal(train_run(job, dataset_, {})), HasSubstr("contradict"));
  EXPECT_TRUE(fs::is_empty(runs_.path()));
}

TEST_F(RunFolder, TheBudgetBoundsTheServersViewUnlessThePublishedOneIsAskedFor) {
  TrainJob job = private_job("server");
  job.epsilon = "8";
  const auto server = train_run(job, dataset_, {});
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_LE(server->privacy->epsilon_server.value(), 8);
  EXPECT_GT(server->privacy->epsilon_server.value(), 7.9);
  job.out = runs_ / "published", job.against = "published";
  const auto published = train_run(job, dataset_, {});
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_LE(published->privacy->epsilon_published.value(), 8);
  EXPECT_GT(published->privacy->epsilon_published.value(), 7.9);
  TrainJob printed = private_job("printed");
  printed.mode = "paper", printed.epsilon = "", printed.against = "server";
  EXPECT_THAT(refusal(train_run(printed, dataset_, {})), HasSubstr("bounds nobody's view"));
  TrainJob plain = private_job("plain");
  plain.recipe = "fedrec", plain.epsilon = "", plain.against = "server";
  EXPECT_THAT(refusal(train_run(plain, dataset_, {})), HasSubstr("bounds nobody's view"));
}

TEST_F(RunFolder, ADeltaThatAllowsToShowAUserIsRefused) {
  TrainJob job = private_job("run");
  job.assignments.push_back("delta=0.4");
  EXPECT_THAT(refusal(train_run(job, dataset_, {})), HasSubstr("not below one over the population of 12"));
  TrainJob sums;
  sums.recipe = "dp-svd", sums.out = runs_ / "sums", sums.epsilon = "8", sums.assignments = {"delta=0.4"};
  const TempFolder data;
  EXPECT_THAT(refusal(train_run(sums, fl::testing::tiny_ratings(data, 60), {})),
              HasSubstr("not below one over"));
}

}  // namespace
}  // namespace sotto::eval
