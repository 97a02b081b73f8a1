// What devices send about their items has a known length, and the sum gives back the exact matrix.

#include "local/item_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"

namespace sotto::local {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Settings = std::vector<std::pair<std::string, std::string>>;

// Distinct items of each user, ascending; nobody has none.
std::vector<std::vector<ItemRow>> random_users(std::size_t users, ItemRow items) {
  SeededRandom random(5, Purpose::test);
  std::vector<std::vector<ItemRow>> all(users);
  for (std::size_t u = 0; u < users; ++u)
    for (ItemRow i = 0; i < items; ++i)
      if (i == u % items || uniform01(random) < (i % 2 == u % 2 ? 0.5 : 0.1)) all[u].push_back(i);
  return all;
}

double norm(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

TEST(ItemSums, WhatADeviceSendsHasNormOneAndNoNegativeEntry) {
  for (const auto& own : random_users(30, 17)) {
    const auto pairs = pair_shares(own, 17), counts = item_shares(own, 17);
    EXPECT_EQ(pairs.size(), pair_count(17));
    EXPECT_NEAR(norm(pairs), 1, 1e-6);
    EXPECT_NEAR(norm(counts), 1, 1e-6);
    for (const auto* sent : {&pairs, &counts})
      for (const float value : *sent) EXPECT_GE(value, 0);
  }
}

TEST(ItemSums, ADeviceWithoutChosenItemsSendsNothing) {
  EXPECT_EQ(norm(pair_shares({}, 5)), 0);
  EXPECT_EQ(norm(item_shares({}, 5)), 0);
}

TEST(ItemSums, TheSumGivesBackWhoLikesWhatTogether) {
  const auto users = random_users(40, 9);
  std::vector<double> sum(pair_count(9), 0);
  Eigen::MatrixXd exact = Eigen::MatrixXd::Zero(9, 9);
  for (const auto& own : users) {
    const auto shares = pair_shares(own, 9);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += shares[i];
    Eigen::VectorXd y = Eigen::VectorXd::Zero(9);
    for (const ItemRow item : own) y[item] = 1;
    exact += y.normalized() * y.normalized().transpose();
  }
  std::size_t next = 0;
  for (Index i = 0; i < 9; ++i)
    for (Index j = i; j < 9; ++j, ++next)
      EXPECT_NEAR(sum[next] / (i == j ? 1 : std::sqrt(2.0)), exact(i, j), 1e-5);
  EXPECT_EQ(next, sum.size());
}

TEST(ItemSums, TheMostCountedItemsAreChosenEqualOnesByNumber) {
  const std::vector<float> counts = {0.5F, -1, 3, 0.5F, 2};
  EXPECT_THAT(most_counted(counts, 3), ElementsAre(2, 4, 0));
  EXPECT_EQ(most_counted(counts, 9).size(), 5U);
  EXPECT_THAT(places_among(std::vector<ItemRow>{0, 1, 2}, most_counted(counts, 3)), ElementsAre(0, 2));
}

struct Device {
  explicit Device(const Settings& more = {}) {
    Settings settings = {{"catalogue", "6"}, {"items", "3"}, {"vectors", "2"}};
    settings.insert(settings.end(), more.begin(), more.end());
    trainer = find_trainer("dp-svd", settings).value();
    own.rows = {{4, true}, {1, true}, {3, false}, {4, true}, {5, true}};
  }
  Result<LocalUpdate> train(std::uint64_t round = 1) const {
    SeededRandom draws(1, Purpose::test);
    RoundInputs inputs;
    inputs.parameters = parameters;
    inputs.round = round;
    return trainer->train(inputs, own, draws, [] { return false; });
  }
  std::unique_ptr<LocalTrainer> trainer;
  // Counts, by which 5, 1 and 0 are chosen, and vectors.
  std::vector<float> parameters = {0.3F, 0.4F, 0, 0.1F, 0.2F, 0.5F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  OwnEvents own;
};

TEST(ItemSumsTrainer, CountsEveryLikedItemOnce) {
  const Device device;
  const LocalUpdate update = device.train().value();
  const float third = 1 / std::sqrt(3.0F);
  EXPECT_THAT(update.direction, ElementsAre(0, third, 0, 0, third, third));
  EXPECT_EQ(update.samples, 3U);
  EXPECT_EQ(device.trainer->layout().text(), "counts:6 vectors:12 ");
  EXPECT_EQ(device.trainer->dimension(6, 1), 6U);
}

TEST(ItemSumsTrainer, SumsPairsOfTheItemsThatThePublishedCountsChoose) {
  const Device device;
  const LocalUpdate update = device.train(2).value();
  // Chosen are 5, 1, 0; the device has the first two.
  EXPECT_EQ(update.direction, pair_shares(std::vector<std::uint32_t>{0, 1}, 3));
  EXPECT_EQ(device.trainer->dimension(6, 2), update.direction.size());
}

TEST(ItemSumsTrainer, ReadsTheLatestRowsAloneAndSendsZerosWithoutAny) {
  const Device latest(Settings{{"max_rows", "1"}});
  EXPECT_THAT(latest.train().value().direction, ElementsAre(0, 0, 0, 0, 0, 1));
  Device device;
  device.own.rows = {{3, false}};
  for (const std::uint64_t round : {1U, 2U}) EXPECT_THAT(device.train(round).value().direction, Each(0.0F));
}

TEST(ItemSumsTrainer, RefusesWhatDoesNotFit) {
  Device unknown;
  unknown.own.rows[0].item = 6;
  EXPECT_THAT(unknown.train().error().message, HasSubstr("item 6 of 6"));
  Device shorter;
  shorter.parameters.pop_back();
  EXPECT_THAT(shorter.train().error().message, HasSubstr("17 parameters were fetched"));
  const auto message = [](const Settings& settings) {
    const auto found = find_trainer("dp-svd", settings);
    return found ? "was found" : found.error().message;
  };
  EXPECT_THAT(message({}), HasSubstr("catalogue is missing"));
  EXPECT_THAT(message({{"catalogue", "5"}}), HasSubstr("items is missing"));
  EXPECT_THAT(Device().train(3).error().message, HasSubstr("round 3 has no sum"));
}

}  // namespace
}  // namespace sotto::local
