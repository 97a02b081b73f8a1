#include "eval/experiments/serving/serving_quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "eval/experiments/serving/serving_report.h"
#include "eval/impression_evaluator.h"
#include "fl/tiny_news.h"
#include "privacy/accounting/datasheet.h"
#include "serving/run_privacy.h"

namespace sotto::eval::private_serving {
namespace {

// Ten items in two dimensions: item i at (even, odd) · (1 + i/100).
struct TinyPool {
  TinyPool() : items(10, 2) {
    for (std::size_t i = 0; i < 10; ++i) items[i][i % 2] = 1 + static_cast<float>(i) / 100;
    truth = Rows(impressions.size(), 2);
    for (std::size_t i = 0; i < impressions.size(); ++i)
      truth[i][dataset.impression(impressions[i]).user % 2] = 1;
  }
  TempFolder folder;
  data::Dataset dataset = sotto::fl::testing::tiny_news(folder);
  std::vector<std::uint32_t> impressions = impressions_of_split(dataset, data::Split::test);
  Rows items, truth;
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(ServingQuality, TrueVectorsRankImpressionsAsTheEvaluatorDoes) {
  const TinyPool pool;
  const auto quality = impression_quality(pool.dataset, pool.impressions, pool.items, pool.truth);
  const auto reference =
      evaluate_impressions(pool.dataset, pool.impressions, pool.items.values, pool.truth.values, 2);
  EXPECT_NEAR(mean(quality.auc), reference.mean.auc, 1e-9);
  EXPECT_NEAR(mean(quality.ndcg10), reference.mean.ndcg10, 1e-9);
  EXPECT_EQ(mean(quality.hits10), 1);  // three items are shown
}

TEST(ServingQuality, DeviceRepairsTheOrderOfWhatWasReturned) {
  const TinyPool pool;
  Rows opposite = pool.truth;
  for (std::size_t i = 0; i < opposite.size(); ++i) std::swap(opposite[i][0], opposite[i][1]);
  const auto whole = pool_quality(pool.dataset, pool.impressions, pool.items, opposite, pool.truth, 10);
  const auto best = pool_quality(pool.dataset, pool.impressions, pool.items, pool.truth, pool.truth, 10);
  EXPECT_NEAR(mean(whole.reranked.score10), mean(best.server.score10), 1e-6);
  EXPECT_EQ(mean(whole.reranked.found10), 1);
}

TEST(ServingQuality, AListOfThePoolCountsAsTheVectorThatOrdersIt) {
  const TinyPool pool;
  std::vector<ReturnedItems> lists(pool.truth.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (data::ItemId item = 0; item < 10; ++item) lists[i].items.push_back(item);
    const auto score = [&](data::ItemId item) {
      return static_cast<float>(publish::dot(pool.truth[i], pool.items[item]));
    };
    std::sort(lists[i].items.begin(), lists[i].items.end(),
              [&](auto a, auto b) { return score(a) > score(b); });
    for (const data::ItemId item : lists[i].items) lists[i].scores.push_back(score(item));
  }
  const auto vectors = impression_quality(pool.dataset, pool.impressions, pool.items, pool.truth);
  EXPECT_EQ(impression_quality(pool.dataset, pool.impressions, lists).auc, vectors.auc);
  const auto whole = pool_quality(pool.dataset, pool.impressions, pool.items, lists, pool.truth, 10);
  EXPECT_EQ(mean(whole.server.found10), 1);
  // Nothing returned: all shown items rank alike, none is shown from the pool.
  const std::vector<ReturnedItems> empty(pool.truth.size());
  EXPECT_NEAR(mean(impression_quality(pool.dataset, pool.impressions, empty).auc), 0.5, 1e-9);
  EXPECT_EQ(
      mean(pool_quality(pool.dataset, pool.impressions, pool.items, empty, pool.truth, 10).server.found10),
      0);
}

TEST(ServingQuality, WhatTheServerDidNotReturnIsNotShown) {
  const TinyPool pool;
  Rows opposite = pool.truth;
  for (std::size_t i = 0; i < opposite.size(); ++i) std::swap(opposite[i][0], opposite[i][1]);
  // Five of ten items, all of the other colour: nothing of what was clicked, whatever the device does.
  const auto cut = pool_quality(pool.dataset, pool.impressions, pool.items, opposite, pool.truth, 5);
  EXPECT_EQ(mean(cut.reranked.hits10), 0);
  EXPECT_NEAR(mean(cut.reranked.score10), 0, 1e-6);
  // Of the eight unseen items, five are of the other colour.
  EXPECT_NEAR(mean(cut.reranked.found10), 5.0 / 8, 1e-9);
}

TEST(ServingQuality, ReadItemsAreNotShownAgain) {
  const TinyPool pool;
  const auto all = pool_quality(pool.dataset, pool.impressions, pool.items, pool.truth, pool.truth, 10);
  // Unseen: the reader's three remaining items of its colour (4, 6, 8 or 5, 7, 9), and five that score zero.
  const double expected = (3 + 0.18 + 0.03 / 2) / 8;
  EXPECT_NEAR(mean(all.server.score10), expected, 1e-5);
}

ServingRow some_row(double epsilon) {
  ServingRow row{{"prototypes-response", 16, epsilon}, {epsilon, 0, epsilon}, std::nullopt, 1e-6, {}};
  for (const std::string& measure : measure_names()) row.measures[measure] = {0.5, 0.01};
  row.measures["auc_share"].error = NAN;
  return row;
}

TEST(ServingRow, IsTheSameAfterItWaitedInAFile) {
  const ServingRow row = some_row(2);
  const auto again = row_of(nlohmann::json::parse(to_json(row).dump()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(key_of(again->choice), key_of(row.choice));
  EXPECT_DOUBLE_EQ(again->measures.at("auc").value, 0.5);
  EXPECT_TRUE(std::isnan(again->measures.at("auc_share").error));
  EXPECT_NE(key_of(some_row(5).choice), key_of(row.choice));
  EXPECT_EQ(again->privacy.epsilon, 2);
  EXPECT_FALSE(again->true_epsilon);
  EXPECT_EQ(again->true_delta, 1e-6);
  ServingRow private_training = row;
  private_training.true_epsilon = 7;
  EXPECT_EQ(row_of(to_json(private_training))->true_epsilon, 7);
}

TEST(ToldBefore, IsWhatTheRunsOwnPageSays) {
  const TempFolder run;
  const auto told = [&](std::string_view page) {
    EXPECT_TRUE(write_file_atomically(run / "privacy.json", page));
    return ToldBefore::of(run.path(), 0.5);
  };
  const auto of_sheet = [&](const privacy::PrivacyDatasheet& sheet) { return told(privacy::to_json(sheet)); };
  const auto nothing = ToldBefore::of(run.path(), 0.5);
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->training_epsilon) << "a run without a page was trained without privacy";
  EXPECT_EQ(nothing->demand_epsilon, 0.5);
  EXPECT_EQ(nothing->demand_charged, 0);
  privacy::PrivacyDatasheet sheet{.delta = 1e-6, .epsilon_server = 4};
  const auto sound = of_sheet(sheet);
  ASSERT_TRUE(sound);
  EXPECT_EQ(sound->training_epsilon, 4);
  EXPECT_EQ(sound->training_delta, 1e-6);
  EXPECT_FALSE(sound->is_simulated);
  sheet.reproducible = true;
  EXPECT_TRUE(of_sheet(sheet)->is_simulated);
  sheet.unit = privacy::Unit::click;
  EXPECT_FALSE(of_sheet(sheet)->training_epsilon) << "a click is not a reader";
  EXPECT_FALSE(of_sheet({.delta = 1e-6})->training_epsilon);
  EXPECT_FALSE(told(R"({"epsilon":4})")) << "half a page says nothing";
  EXPECT_FALSE(told("broken"));
}

// What the run was served with was released to everybody, whatever mechanism is looked at.
TEST(ToldBefore, CountsTheDemandThatTheRunHasReleasedAlready) {
  const TempFolder run;
  const auto charges = run / serving::demand_charges_file;
  ASSERT_TRUE(write_file_atomically(charges, "{\"epsilon\":0.5}\n{\"epsilon\":1}\n"));
  EXPECT_EQ(ToldBefore::of(run.path(), 0.25)->demand_charged, 1.5);
  EXPECT_EQ(ToldBefore::of(run.path(), 0.25)->demand_epsilon, 0.25);
  ASSERT_TRUE(write_file_atomically(charges, "{\"epsilon\":"));
  EXPECT_FALSE(ToldBefore::of(run.path(), 0.25)) << "nobody knows what was paid";
}

TEST(ServingRows, QuickIsMarkedInEveryOutput) {
  const std::vector<ServingRow> rows = {some_row(1)};
  EXPECT_NE(to_csv(rows, {.quick = true}).find(",quick,answers,"), std::string::npos);
  EXPECT_NE(to_csv(rows, {}).find(",full,answers,"), std::string::npos);
  EXPECT_NE(to_text(rows, {.quick = true}).find("QUICK"), std::string::npos);
  EXPECT_EQ(to_text(rows, {}).find("QUICK"), std::string::npos);
}

// Numbers that hold for secret noise alone do not leave without saying so.
TEST(ServingRows, SayInEveryOutputWhatOfThemIsASimulation) {
  const std::vector<ServingRow> rows = {some_row(1)};
  for (const bool simulated : {false, true}) {
    ServingFacts facts;
    facts.told_before.training_epsilon = 4;
    facts.told_before.is_simulated = simulated;
    const std::string part = simulated ? "training and answers" : "answers";
    const std::string note = "no ε holds for these files, whose " + part + " are drawn from seeds";
    EXPECT_NE(to_csv(rows, facts).find(",quick,simulation,"), std::string::npos);
    EXPECT_NE(to_csv(rows, facts).find(",full," + part + ","), std::string::npos) << to_csv(rows, facts);
    EXPECT_NE(to_text(rows, facts).find(note), std::string::npos);
    EXPECT_NE(serving_report(rows, facts).find(note), std::string::npos);
    EXPECT_EQ(simulation_note(facts.told_before).find("simulation: " + note), 0U);
  }
}

}  // namespace
}  // namespace sotto::eval::private_serving
