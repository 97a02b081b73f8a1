// Runs side by side: what is one row, what is paired with what, and what is refused.

#include "eval/compare_runs.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "eval/experiments/sweep.h"
#include "eval/small_newsroom.h"
#include "fl/tiny_interactions.h"
#include "report/well_formed.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> few_readers = {"cohort=20", "word_size=8", "heads=2", "head_size=4",
                                              "pooling_size=4"};

class CompareRuns : public ::testing::Test {
 protected:
  fs::path train(const std::string& name, std::uint64_t seed,
                 const std::string& setting = "learning_rate=0.01") {
    auto settings = few_readers;
    settings.push_back(setting);
    TrainJob job = room_.job("fedrec", name, 3, settings);
    job.seed = seed;
    job.data = room_.data / "news";
    const auto outcome = room_.train(job);
    EXPECT_TRUE(outcome.has_value()) << refusal(outcome);
    return job.out;
  }
  static std::string refusal(const Result<recipes::TrainOutcome>& outcome) {
    return testing::refusal(outcome);
  }

  testing::SmallNewsroom room_;
};

TEST_F(CompareRuns, PairsByImpressionsAreTheDifferenceOfTheMeans) {
  const fs::path a = train("a", 1), b = train("b", 2, "learning_rate=0.05");
  const auto comparison = compare_runs({{a, b}, {}, true});
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  ASSERT_EQ(comparison->rows.size(), 2U);
  const ComparedRow &first = comparison->rows[0], &second = comparison->rows[1];
  EXPECT_TRUE(first.paired_by.empty());
  EXPECT_EQ(second.paired_by, "impressions");
  EXPECT_NEAR(second.difference.mean, second.values.at("auc")[0] - first.values.at("auc")[0], 1e-9);
  EXPECT_GT(second.difference.error, 0);
  EXPECT_THAT(second.name, HasSubstr("learning_rate=0.05"));
  EXPECT_EQ(second.epsilon_server, "none");

  const std::string text = to_text(*comparison);
  EXPECT_THAT(text, HasSubstr("(impressions)"));
  const std::string csv = to_csv(*comparison);
  EXPECT_THAT(csv, HasSubstr("impressions,none"));
  EXPECT_THAT(csv, HasSubstr("unpaired,unit_of_metrics\n"));
  EXPECT_THAT(csv, ::testing::EndsWith(",\"share, 0 to 1\"\n"));
  EXPECT_EQ(report::markup_problem(to_html(*comparison), {"meta", "br"}), "");
}

TEST_F(CompareRuns, TheEpsilonOfASimulationIsMarkedAndExplained) {
  ComparedRow secret, simulated;
  secret.name = "secret", secret.epsilon_server = secret.epsilon_published = "8";
  simulated.name = "simulated", simulated.epsilon_server = simulated.epsilon_published = "7.5";
  simulated.simulation = true;
  Comparison comparison;
  comparison.columns = {{"auc", "AUC %", 100, 2}};
  for (ComparedRow* row : {&secret, &simulated}) {
    row->seeds = {1}, row->runs = {room_.data / row->name}, row->values["auc"] = {0.5};
    comparison.rows.push_back(*row);
  }
  for (const std::string& shown : {to_text(comparison), to_html(comparison)}) {
    EXPECT_THAT(shown, HasSubstr("7.5*"));
    EXPECT_THAT(shown, HasSubstr("* simulation: no ε holds"));
    EXPECT_THAT(shown, ::testing::Not(HasSubstr("8*")));
  }
  EXPECT_THAT(to_csv(comparison), HasSubstr("7.5,7.5,true,"));

  comparison.rows.pop_back();
  EXPECT_THAT(to_text(comparison), ::testing::Not(HasSubstr("simulation")));
}

// Two rows were both called "fedrec learning_rate=0.001 roun…".
TEST(Comparison, RowsWhoseNamesAreCutAreToldApartByNumbers) {
  Comparison comparison;
  const std::string beginning = "fedrec learning_rate=0.001 optimiser=fedadam ";
  for (const char* end : {"rounds=3", "rounds=10", "word=\u00e9"}) {
    comparison.rows.emplace_back();
    comparison.rows.back().name = beginning + end;
  }
  comparison.rows.emplace_back();
  comparison.rows.back().name = "fedrec";
  const std::string text = to_text(comparison);
  EXPECT_THAT(text, HasSubstr("[1] fedrec learning_rate=0.001"));
  EXPECT_THAT(text, HasSubstr("\n[2] " + beginning + "rounds=10\n"));
  EXPECT_THAT(text, HasSubstr("\nfedrec  "));
  for (ComparedRow& row : comparison.rows) row.name.insert(0, std::string(20, 'x') + "\u00e9\u00e9\u00e9");
  EXPECT_TRUE(is_utf8(to_text(comparison))) << to_text(comparison);
}

TEST_F(CompareRuns, EqualSettingsAreOneRowAndEqualSeedsArePaired) {
  const std::vector<fs::path> runs = {train("a1", 1), train("b1", 1, "learning_rate=0.05"), train("a2", 2),
                                      train("b2", 2, "learning_rate=0.05")};
  const auto comparison = compare_runs({runs, {}, true});
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  ASSERT_EQ(comparison->rows.size(), 2U);
  const auto &a = comparison->rows[0].values.at("auc"), &b = comparison->rows[1].values.at("auc");
  ASSERT_EQ(a.size(), 2U);
  ASSERT_EQ(b.size(), 2U);
  EXPECT_EQ(comparison->rows[1].paired_by, "seeds");
  const double d1 = b[0] - a[0], d2 = b[1] - a[1];
  EXPECT_NEAR(comparison->rows[1].difference.mean, (d1 + d2) / 2, 1e-12);
  EXPECT_NEAR(comparison->rows[1].difference.error, std::abs(d1 - d2) / 2, 1e-12);
}

TEST_F(CompareRuns, StoredNumbersNeedNoData) {
  const fs::path a = train("a", 1), b = train("b", 2, "learning_rate=0.05");
  fs::remove_all(room_.data / "news");
  EXPECT_FALSE(compare_runs({{a, b}, {}, true}).has_value());
  const auto comparison = compare_runs({{a, b}, {}, false});
  ASSERT_TRUE(comparison.has_value());
  EXPECT_TRUE(std::isnan(comparison->rows[1].difference.mean));
  EXPECT_THAT(to_text(*comparison), HasSubstr("is not held against the first: nothing was tested again"));
}

TEST(CompareRunsOfInteractions, TestUsersOfOtherSeedsAreNotPairedAndThatIsSaid) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const auto train = [&](const std::string& out, std::uint64_t seed, const char* setting) {
    TrainJob job;
    job.recipe = "dp-svd", job.data = data.path(), job.out = runs / out, job.seed = seed, job.epsilon = "16";
    job.assignments = {setting};
    EXPECT_TRUE(train_run(job, dataset, {}));
    return job.out;
  };
  const fs::path first = train("a", 1, "ridge=50"), other = train("b", 2, "ridge=60"),
                 same = train("c", 1, "ridge=70");
  const auto comparison = compare_runs({{first, other, same}, {}, true});
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  EXPECT_TRUE(std::isnan(comparison->rows[1].difference.mean));
  EXPECT_THAT(to_text(*comparison), HasSubstr("seeds 2 here, 1 in the first row"));
  EXPECT_EQ(comparison->rows[2].paired_by, "users");
}

TEST_F(CompareRuns, RefusesWhatHasNothingInCommon) {
  const fs::path a = train("a", 1);
  EXPECT_THAT(compare_runs({{a}, {}, false}).error().message, HasSubstr("two runs"));
  EXPECT_THAT(compare_runs({{a, a}, {}, false}).error().message, HasSubstr("once more"));
  const fs::path sampled = train("d", 4);
  auto result = nlohmann::json::parse(*read_file(sampled / "result.json", 1 << 20));
  result["impressions"] = 3;
  ASSERT_TRUE(write_file_atomically(sampled / "result.json", result.dump()).has_value());
  EXPECT_THAT(compare_runs({{a, sampled}, {}, false}).error().message, HasSubstr("tested on 3 impressions"));
  const fs::path unfinished = train("b", 2);
  fs::remove(unfinished / "result.json");
  EXPECT_THAT(compare_runs({{a, unfinished}, {}, false}).error().message, HasSubstr("--resume"));
  const fs::path other = train("c", 3);
  const auto text = *read_file(other / "run.json", 1 << 20);
  auto described = text;
  described.replace(described.find("\"fingerprint\": \""), 16, "\"fingerprint\": \"f");
  ASSERT_TRUE(write_file_atomically(other / "run.json", described).has_value());
  EXPECT_THAT(compare_runs({{a, other}, {}, false}).error().message, HasSubstr("one data set"));
}

TEST_F(CompareRuns, ASweepTrainsEveryCombinationAndPairsEqualSeeds) {
  SweepRequest request;
  request.recipes = {"fedrec"};
  request.axes = {"learning_rate=0.01,0.05", "negatives=1,2"};
  request.run.data = room_.data / "news";
  request.run.out = room_.runs / "sweep";
  request.run.seeds = 2;
  request.run.assignments = few_readers;
  request.run.assignments.push_back("rounds=2");
  const auto result = run_sweep(request);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(result->failures.empty());
  const auto table = read_file(request.run.out / "differences.csv", 1 << 20);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(std::count(table->begin(), table->end(), '\n'), 4);  // a heading and three rows against the first
  EXPECT_THAT(*table, HasSubstr("learning_rate=0.05 negatives=2"));
  EXPECT_TRUE(fs::exists(request.run.out / "by_learning_rate.svg"));

  const auto refused = [&](std::vector<std::string> axes) {
    SweepRequest wrong = request;
    wrong.axes = std::move(axes);
    const auto outcome = run_sweep(wrong);
    return outcome ? std::string("nothing was refused") : outcome.error().message;
  };
  EXPECT_THAT(refused({"learning_rate"}), HasSubstr("key=a,b,c"));
  EXPECT_THAT(refused({"learning_rate=0.1,,0.2"}), HasSubstr("empty value"));
  EXPECT_THAT(refused({"learning_rate=0.1,0.1"}), HasSubstr("twice"));
  EXPECT_THAT(refused({"learnin_rate=0.1,0.2"}), HasSubstr("learning_rate"));
}

}  // namespace
}  // namespace sotto::eval
