// FCF on impressions is FCF on interactions with the same positives, and scores whatever it is shown.

#include <gtest/gtest.h>

#include "fl/plain_means.h"
#include "fl/same_behaviour.h"
#include "fl/tiny_interactions.h"
#include "fl/training_data.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

struct BothKinds {
  TempFolder folder, same;
  data::Dataset ratings = testing::tiny_ratings(folder);
  InteractionData data = prepare_interactions(ratings, {}, 1).value();
  data::Dataset impressions = testing::as_impressions(ratings, data, same);
};

FactorModel seeded_model(const data::Dataset& dataset) {
  FactorisationSettings settings;
  settings.factors = 4;
  torch::manual_seed(5);
  return FactorModel(static_cast<std::int64_t>(dataset.item_count()), settings);
}

TEST(FactorisationOfImpressions, PositivesAreClicksAndHistoriesEachOnce) {
  const BothKinds both;
  TrainingDataSettings settings;
  settings.validation_impressions = 0;
  const auto training = prepare_training_data(both.impressions, settings, 1).value();
  const auto expected = positives_of(both.ratings, both.data),
             found = positives_of(both.impressions, training.users);
  EXPECT_EQ(found.users, expected.users);
  EXPECT_EQ(found.items, expected.items);
  EXPECT_GT(expected.count(), expected.users.size());
}

TEST(FactorisationOfImpressions, TestClicksAndTestHistoriesDoNotTrain) {
  const TempFolder folder;
  data::DatasetBuilder builder("small", "test");
  for (const char* id : {"a", "b", "c", "d"}) builder.add_item({.id = id, .title = id});
  const data::UserId user = builder.user("u");
  const auto history = builder.add_history(std::vector<data::ItemId>{0, 1, 2});
  const std::vector<std::uint8_t> first = {1, 0};
  builder.add_impression(user, 1, data::Split::train, history, 1, std::vector<data::ItemId>{1, 3}, first);
  builder.add_impression(user, 2, data::Split::test, history, 3, std::vector<data::ItemId>{3, 0}, first);
  ASSERT_TRUE(builder.write(folder.path()));
  const data::Dataset dataset = data::Dataset::open(folder.path()).value();
  EXPECT_EQ(positives_of(dataset, std::vector<data::UserId>{user}).of(user), (OwnItems{0, 1}));
}

TEST(FactorisationOfImpressions, RoundsEqualThoseOfTheSameInteractions) {
  const BothKinds both;
  const FactorModel model = seeded_model(both.ratings);
  const auto devices = positives_of(both.ratings, both.data),
             again = positives_of(both.impressions, both.data.users);
  PlainMeans rows(CohortSampler::create(devices.users, 6, 2).value(),
                  factorisation_mean(devices, devices.users.size(), model)),
      clicks(CohortSampler::create(again.users, 6, 2).value(),
             factorisation_mean(again, again.users.size(), model));
  for (std::uint32_t round = 1; round <= 3; ++round) {
    const RoundUpdate a = rows.round(round).value(), b = clicks.round(round).value();
    EXPECT_TRUE(torch::equal(a.direction, b.direction));
    EXPECT_EQ(a.samples, b.samples);
  }
}

TEST(FactorisationOfImpressions, HistoriesScoreAsSupportRowsDo) {
  const BothKinds both;
  FactorModel model = seeded_model(both.ratings);
  std::vector<data::ItemId> items(both.ratings.item_count());
  for (data::ItemId item = 0; item < items.size(); ++item) items[item] = item;
  std::size_t users = 0;
  score_test_users(both.ratings, both.data, model, [&](std::size_t user, auto, const float* expected) {
    const OwnItems support = own_items(both.ratings, both.data.test[user].support.positive);
    model::Histories histories;
    histories.add({}, model::unknown_user);
    histories.add(support, both.data.test[user].support.user);
    std::vector<std::int64_t> first(items.size(), 1), second(items.begin(), items.end());
    model::Pass pass = model::Pass::evaluation();
    const Tensor found = model.scores({items, histories, first, second}, pass);
    for (std::int64_t item = 0; item < found.size(0); ++item)
      EXPECT_NEAR(found[item].item<float>(), expected[item], 1e-5);
    ++users;
  });
  EXPECT_GT(users, 0U);
}

TEST(FactorisationOfImpressions, RepeatedClicksCountOnce) {
  const BothKinds both;
  FactorModel model = seeded_model(both.ratings);
  const std::vector<data::ItemId> items = {3, 7, 9};
  model::Histories histories;
  histories.add(std::vector<std::int64_t>{0, 1}, 1);
  histories.add(std::vector<std::int64_t>{1, 0, 1, 1}, 2);
  model::Pass pass = model::Pass::evaluation();
  const Tensor scores = model.scores(
      {items, histories, std::vector<std::int64_t>{0, 1}, std::vector<std::int64_t>{2, 2}}, pass);
  EXPECT_EQ(scores[0].item<float>(), scores[1].item<float>());
}

// What nobody liked keeps its first factors, shrunk; a reader without clicks has none.
TEST(FactorisationOfImpressions, EmptyHistoriesUnseenItemsAndSingleItemsScoreFinite) {
  const BothKinds both;
  FactorModel model = seeded_model(both.ratings);
  {
    torch::NoGradGuard no_grad;
    model.factors[4].zero_();
  }
  model::Histories histories;
  histories.add({}, model::unknown_user);
  histories.add(std::vector<std::int64_t>{0}, 1);
  model::Pass pass = model::Pass::evaluation();
  const std::vector<std::int64_t> readers = {0, 1, 1}, shown = {0, 0, 1};
  const Tensor scores = model.scores({std::vector<data::ItemId>{4, 5}, histories, readers, shown}, pass);
  EXPECT_TRUE(torch::isfinite(scores).all().item<bool>());
  EXPECT_EQ(scores[0].item<float>(), 0);
  const Tensor one = model.scores(
      {std::vector<data::ItemId>{5}, histories, std::vector<std::int64_t>{0}, std::vector<std::int64_t>{0}},
      pass);
  EXPECT_EQ(one.numel(), 1);
  EXPECT_TRUE(torch::isfinite(one).all().item<bool>());
}

}  // namespace
}  // namespace sotto::fl
