// Who trains, what is held out, and what a device may look at while it trains.

#include "fl/interaction_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fl/tiny_interactions.h"

namespace sotto::fl {
namespace {

using testing::TinyInteractions;

TEST(InteractionData, FourFifthsTrainAndTestUsersAreHalved) {
  const TempFolder folder;
  const data::Dataset dataset = testing::tiny_ratings(folder, 40);
  const auto data = prepare_interactions(dataset, {}, 1).value();
  EXPECT_EQ(data.users.size(), 32U);
  EXPECT_EQ(data.test.size() + data.untested, 8U);
  for (const auto& user : data.test) {
    EXPECT_FALSE(std::binary_search(data.users.begin(), data.users.end(), user.support.user));
    std::set<std::uint64_t> support(user.support.positive.begin(), user.support.positive.end());
    support.insert(user.support.negative.begin(), user.support.negative.end());
    for (const std::uint64_t row : user.query) {
      EXPECT_FALSE(support.contains(row));
      EXPECT_GT(dataset.interactions().ratings[row], 3);
    }
  }
}

TEST(InteractionData, RowsWithoutRatingsArePositiveAndRepeatsCountAsAsked) {
  const TempFolder folder;
  data::DatasetBuilder builder("log", "test");
  for (int i = 0; i < 6; ++i) builder.add_item({.id = std::to_string(i)});
  for (int u = 0; u < 10; ++u) {
    const data::UserId user = builder.user(std::to_string(u));
    for (const data::ItemId item : {0U, 0U, 0U, 1U, 2U}) builder.add_interaction(user, item, NAN, 0);
  }
  const data::UserId single = builder.user("single");
  builder.add_interaction(single, 3, NAN, 0);
  ASSERT_TRUE(builder.write(folder.path()));
  const data::Dataset dataset = data::Dataset::open(folder.path()).value();
  InteractionSettings settings;
  const auto log = prepare_interactions(dataset, settings, 1).value();
  settings.rows = "distinct";
  const auto distinct = prepare_interactions(dataset, settings, 1).value();
  const auto full = [&](const InteractionData& data) {
    return *std::max_element(data.rows.begin(), data.rows.end(), [](const auto& a, const auto& b) {
      return a.positive.size() < b.positive.size();
    });
  };
  EXPECT_EQ(full(log).positive.size(), 5U);
  EXPECT_EQ(full(distinct).positive.size(), 3U);
  EXPECT_TRUE(full(log).negative.empty());
  // Whoever has one row keeps it on the device and is not tested.
  const auto counted = [&](const InteractionData& data) { return data.test.size() + data.untested; };
  EXPECT_EQ(counted(log), 2U);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto drawn = prepare_interactions(dataset, settings, seed).value();
    const bool tests_single = !std::binary_search(drawn.users.begin(), drawn.users.end(), single);
    EXPECT_EQ(drawn.untested, tests_single ? 1U : 0U);
  }
}

TEST(InteractionData, DataWithoutInteractionsIsRefusedWithAdvice) {
  const TempFolder folder;
  data::DatasetBuilder builder("empty", "test");
  builder.add_item({.id = "a"});
  ASSERT_TRUE(builder.write(folder.path()));
  const auto refused = prepare_interactions(data::Dataset::open(folder.path()).value(), {}, 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("sotto data view"), std::string::npos) << refused.error().message;
}

TEST(InteractionTasks, WhatIsPredictedIsNotRememberedAndNegativesAreUnknown) {
  TaskSettings settings;
  settings.local_steps = 0, settings.local_epochs = 2, settings.local_batch = 2;
  const TinyInteractions tiny(model::InputChoice::rich);
  const auto tasks = InteractionTasks::create(tiny.dataset, tiny.data, tiny.inputs, settings, 1).value();
  const auto& items = tiny.dataset.interactions().items;
  for (const auto& rows : tiny.data.rows) {
    const model::TabularTask task = tasks.training(0, rows);
    EXPECT_EQ(task.history.size(), rows.positive.size() / 2);
    std::set<data::ItemId> known;
    for (const auto* list : {&rows.positive, &rows.negative})
      for (const std::uint64_t row : *list) known.insert(items[row]);
    for (const auto& step : task.steps) {
      for (const auto& example : step) {
        if (example.label > 0) {
          EXPECT_EQ(std::count(task.history.begin(), task.history.end(), example.item), 0);
        } else {
          EXPECT_FALSE(known.contains(example.item));
        }
      }
    }
  }
}

TEST(InteractionTasks, FineTuningKnowsNothingOfTheHeldOutHalf) {
  // Items of the query half must turn up among the negatives of fine-tuning: a device cannot avoid what it
  // does not know.
  TaskSettings settings;
  settings.negatives = 200;
  const TinyInteractions tiny(model::InputChoice::rich);
  const auto tasks = InteractionTasks::create(tiny.dataset, tiny.data, tiny.inputs, settings, 1).value();
  const auto& items = tiny.dataset.interactions().items;
  for (const auto& user : tiny.data.test) {
    std::set<data::ItemId> negatives;
    for (const auto& step : tasks.tuning(user.support, 1).steps)
      for (const auto& example : step)
        if (example.label == 0) negatives.insert(example.item);
    if (user.support.positive.empty()) continue;
    for (const std::uint64_t row : user.query) EXPECT_TRUE(negatives.contains(items[row]));
  }
}

TEST(InteractionTasks, LowRatingsAsNegativesNeedRatings) {
  const TempFolder folder;
  data::DatasetBuilder builder("log", "test");
  for (int i = 0; i < 4; ++i) builder.add_item({.id = std::to_string(i)});
  for (int u = 0; u < 5; ++u) builder.add_interaction(builder.user(std::to_string(u)), 1, NAN, 0);
  ASSERT_TRUE(builder.write(folder.path()));
  const data::Dataset dataset = data::Dataset::open(folder.path()).value();
  const auto data = prepare_interactions(dataset, {}, 1).value();
  const auto inputs = model::build_tabular_inputs(dataset, model::InputChoice::ids).value();
  TaskSettings settings;
  settings.labels = "ratings";
  const auto refused = InteractionTasks::create(dataset, data, inputs, settings, 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("labels=sampled"), std::string::npos);
}

TEST(InteractionData, ASplitThatTheDataGivesIsTaken) {
  const TempFolder folder;
  data::DatasetBuilder builder("lists", "test");
  for (int i = 0; i < 4; ++i) builder.add_item({.id = std::to_string(i)});
  const data::UserId both = builder.user("a"), trains = builder.user("b"), tests = builder.user("c");
  builder.add_split_interaction(both, 0, data::Split::train);
  builder.add_split_interaction(both, 1, data::Split::test);
  builder.add_split_interaction(both, 2, data::Split::test);
  builder.add_split_interaction(trains, 1, data::Split::train);
  builder.add_split_interaction(tests, 3, data::Split::test);
  ASSERT_TRUE(builder.write(folder.path()));
  const data::Dataset dataset = data::Dataset::open(folder.path()).value();
  const auto& items = dataset.interactions().items;
  for (const std::uint64_t seed : {1, 2}) {
    const auto data = prepare_interactions(dataset, {}, seed).value();
    EXPECT_TRUE(data.given_split);
    EXPECT_EQ(data.users, (std::vector<data::UserId>{both, trains}));
    ASSERT_EQ(data.rows[0].positive.size(), 1U);
    EXPECT_EQ(items[data.rows[0].positive[0]], 0U);
    ASSERT_EQ(data.test.size(), 2U);
    EXPECT_EQ(data.untested, 1U);
    EXPECT_EQ(data.test[0].support.positive, data.rows[0].positive);
    std::set<data::ItemId> wanted;
    for (const std::uint64_t row : data.test[0].query) wanted.insert(items[row]);
    EXPECT_EQ(wanted, (std::set<data::ItemId>{1, 2}));
    EXPECT_TRUE(data.test[1].support.positive.empty());
  }
  InteractionSettings shared;
  shared.train_share = 0.5;
  EXPECT_FALSE(prepare_interactions(dataset, shared, 1)) << "nothing is divided here";
}

}  // namespace
}  // namespace sotto::fl
