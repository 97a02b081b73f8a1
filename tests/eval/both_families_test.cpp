// One model by both families of numbers: each is what it says, and neither is a new way to train.

#include "eval/both_families.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "eval/compare_runs.h"
#include "eval/experiments/sweep.h"
#include "eval/impression_evaluator.h"
#include "eval/small_newsroom.h"
#include "fl/tiny_interactions.h"
#include "recipes/stored_run.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> narrow_model = {"cohort=20", "word_size=8", "heads=2", "head_size=4",
                                               "pooling_size=4"};

// What a model is that knows pairs alone.
class PairsAlone final : public model::RankingModel {
 public:
  explicit PairsAlone(model::RankingModel& inner) : inner_(inner) {}
  torch::Tensor scores(const model::ScoreRequest& request, model::Pass& pass) override {
    return inner_.scores(request, pass);
  }

 private:
  model::RankingModel& inner_;
};

TEST(BothFamilies, OfANewsModelAddWhereItsClicksStandAmongAllItems) {
  const testing::SmallNewsroom room;
  const auto trained = room.train(room.job("fedrec", "run", 3, narrow_model));
  ASSERT_TRUE(trained) << trained.error().message;
  const fs::path run = room.runs / "run";
  const auto both = evaluate_both({.run = run}, room.dataset);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_TRUE(both->of_impressions);
  EXPECT_DOUBLE_EQ(both->impressions.mean.auc, trained->test.mean.auc);
  const auto test = impressions_of_split(room.dataset, data::Split::test);
  EXPECT_EQ(both->all_items.users + both->all_items.left_out, test.size());
  EXPECT_GT(both->all_items.mean.hits[3], 0);
  EXPECT_LT(both->all_items.mean.hits[0], both->all_items.mean.hits[3]);
  const auto json = to_json(*both);
  EXPECT_DOUBLE_EQ(json.at("impressions").at("auc").get<double>(), trained->test.mean.auc);
  EXPECT_GT(json.at("all_items").at("hits10_error").get<double>(), 0);

  // Encoded once and on all threads, or pair by pair: the same ranks.
  auto news = recipes::open_news_run(run, room.dataset);
  ASSERT_TRUE(news) << news.error().message;
  const std::vector<std::uint32_t> few(test.begin(), test.begin() + 20);
  PairsAlone slow(*news->model);
  const auto fast_report = among_all_items(*news->model, room.dataset, few, news->max_history),
             slow_report = among_all_items(slow, room.dataset, few, news->max_history);
  ASSERT_EQ(fast_report.each.size(), slow_report.each.size());
  for (std::size_t i = 0; i < fast_report.each.size(); ++i)
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_NEAR(fast_report.each[i].hits[c], slow_report.each[i].hits[c], 1e-9) << i;
}

TEST(BothFamilies, OfAModelOfInteractionsAddHeldOutRowsAmongOthers) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  TrainJob job;
  job.recipe = "dp-svd", job.data = data.path(), job.out = runs / "run", job.assignments = {"noise=none"};
  const auto trained = train_run(job, dataset, {});
  ASSERT_TRUE(trained) << trained.error().message;
  const auto both = evaluate_both({.run = job.out}, dataset);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_FALSE(both->of_impressions);
  EXPECT_DOUBLE_EQ(both->all_items.mean.hits[1], trained->held_out->mean.hits[1]);
  EXPECT_EQ(both->impressions.counted + both->impressions.left_out, both->all_items.rows);
  EXPECT_GT(both->impressions.mean.auc, 0.5) << "users have one taste";
  const auto again = evaluate_both({.run = job.out}, dataset);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->impressions.mean.auc, both->impressions.mean.auc)
      << "the others are drawn once and for all";
}

TEST(BothFamilies, StandBesideEachOtherInAComparison) {
  const testing::SmallNewsroom room;
  std::vector<fs::path> runs;
  for (const char* rate : {"learning_rate=0.01", "learning_rate=0.05"}) {
    auto settings = narrow_model;
    settings.emplace_back(rate);
    auto job = room.job("fedrec", rate, 2, settings);
    job.data = room.data / "news";
    ASSERT_TRUE(room.train(job));
    runs.push_back(job.out);
  }
  const auto comparison = compare_runs({.runs = runs, .data = {}, .pairs = true, .both = true});
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->columns.size(), 8U);
  for (const ComparedRow& row : comparison->rows) EXPECT_EQ(row.values.at("all_items.hits10").size(), 1U);
  EXPECT_THAT(to_text(*comparison), HasSubstr("Hits@10 % all"));
  EXPECT_THAT(to_html(*comparison), HasSubstr("nDCG@20 % all"));
  EXPECT_THAT(to_csv(*comparison), HasSubstr("all_items.ndcg20_error"));
}

TEST(BothFamilies, SayTheUnitOfTheirMetrics) {
  const auto families = to_json(eval::BothFamilies{});
  EXPECT_EQ(families.at("impressions").at("unit_of_metrics"), "share, 0 to 1");
  EXPECT_EQ(families.at("all_items").at("unit_of_metrics"), "share, 0 to 1");
  EXPECT_EQ(to_json(metrics::HeldOutReport{}).at("unit_of_metrics"), "share, 0 to 1");
}

// One seed says nothing of the error between seeds, but its tests can be paired.
TEST(Sweep, OfOneSeedHoldsItsRowsAgainstTheFirstByTheirTests) {
  const testing::SmallNewsroom room;
  SweepRequest request;
  request.recipes = {"fedrec"};
  request.axes = {"learning_rate=0.01,0.05"};
  request.run.data = room.data / "news";
  request.run.out = room.runs / "sweep";
  request.run.assignments = narrow_model;
  request.run.assignments.emplace_back("rounds=2");
  const auto result = run_sweep(request);
  ASSERT_TRUE(result) << result.error().message;
  const std::string page = read_file(request.run.out / "report.html").value();
  const auto caption = page.find("over what both were tested on");
  ASSERT_NE(caption, std::string::npos);
  EXPECT_NE(page.find("±", page.find("learning_rate=0.05")), std::string::npos);
}

}  // namespace
}  // namespace sotto::eval
