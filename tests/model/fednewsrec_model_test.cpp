#include "model/news/fednewsrec_model.h"

#include "model/finite_differences.h"
#include "model/flat_parameters.h"
#include "model/news/ranking_model.h"

namespace sotto::model {
namespace {

using torch::Tensor;

// Item 2 has no words.
std::shared_ptr<ItemFeatures> titles() {
  auto items = std::make_shared<ItemFeatures>();
  items->titles = {{2, 3, 4, 5, 2, 6, 7, 8, 9, 3, 4}, {0, 3, 5, 5, 9, 11}};
  return items;
}

NewsShape narrow() {
  NewsShape shape;
  shape.word_size = 4, shape.heads = 2, shape.head_size = 3, shape.pooling_size = 5, shape.recent_clicks = 2;
  shape.dropout = 0;
  shape.train_words = true;
  return shape;
}

std::shared_ptr<FedNewsRecModel> narrow_model(torch::ScalarType type = torch::kFloat32) {
  torch::manual_seed(11);
  auto model = std::make_shared<FedNewsRecModel>(ModelInputs{narrow(), torch::randn({10, 4}), titles(), {}});
  model->to(type);
  return model;
}

Histories three_histories() {
  Histories histories;
  histories.add(std::vector<std::int64_t>{0, 3, 1});
  histories.add(std::vector<std::int64_t>{});
  histories.add(std::vector<std::int64_t>{4});
  return histories;
}

TEST(FedNewsRecModel, HasThePapersSizeWithFrozenWords) {
  FedNewsRecModel model(ModelInputs{NewsShape{}, torch::zeros({10, 300}), titles(), {}});
  std::int64_t trainable = 0;
  for (const auto& parameter : model.parameters())
    if (parameter.requires_grad()) trainable += parameter.numel();
  EXPECT_EQ(trainable, 2'522'800);
}

TEST(FedNewsRecModel, ItemWithoutWordsIsTheZeroVector) {
  auto model = narrow_model();
  Pass pass;
  const std::vector<data::ItemId> items = {2, 0};
  const Tensor vectors = model->encode_items(items, pass);
  EXPECT_TRUE(vectors[0].eq(0).all().item<bool>());
  EXPECT_FALSE(vectors[1].eq(0).all().item<bool>());
}

TEST(FedNewsRecModel, ItemVectorsDoNotDependOnTheirBatch) {
  auto model = narrow_model();
  Pass pass;
  const std::vector<data::ItemId> all = {0, 1, 2, 3, 4}, one = {3};
  EXPECT_TRUE(
      torch::allclose(model->encode_items(all, pass)[3], model->encode_items(one, pass)[0], 1e-5, 1e-6));
}

TEST(FedNewsRecModel, UserVectorsDoNotDependOnTheirBatch) {
  auto model = narrow_model();
  Pass pass;
  const std::vector<data::ItemId> all = {0, 1, 2, 3, 4};
  const Tensor items = model->encode_items(all, pass);
  const Tensor together = model->encode_users(items, three_histories(), pass);
  for (std::int64_t u = 0; u < 3; ++u) {
    const Histories histories = three_histories();
    Histories alone;
    alone.add(std::span(histories.rows)
                  .subspan(histories.offsets[u], histories.offsets[u + 1] - histories.offsets[u]));
    EXPECT_TRUE(torch::allclose(together[u], model->encode_users(items, alone, pass)[0], 1e-5, 1e-6))
        << "user " << u;
  }
}

TEST(FedNewsRecModel, EmptyHistoryGivesAFiniteVectorThatCanLearn) {
  auto model = narrow_model();
  Pass pass;
  const std::vector<data::ItemId> all = {0, 1};
  Histories cold;
  cold.add({});
  const Tensor user = model->encode_users(model->encode_items(all, pass), cold, pass);
  EXPECT_TRUE(torch::isfinite(user).all().item<bool>());
  user.sum().backward();
  EXPECT_GT(model->named_parameters()["recent_clicks.bias"].grad().abs().sum().item<double>(), 0);
}

TEST(FedNewsRecModel, RecencyMattersOnlyToTheShortTermPart) {
  // With two recent clicks read by the GRU, swapping older clicks changes nothing: attention has no
  // positions.
  auto model = narrow_model();
  Pass pass;
  const std::vector<data::ItemId> all = {0, 1, 2, 3, 4};
  const Tensor items = model->encode_items(all, pass);
  const auto user = [&](std::vector<std::int64_t> history) {
    Histories one;
    one.add(history);
    return model->encode_users(items, one, pass);
  };
  EXPECT_TRUE(torch::allclose(user({0, 1, 3, 4}), user({1, 0, 3, 4}), 1e-5, 1e-6));
  EXPECT_FALSE(torch::allclose(user({0, 1, 3, 4}), user({0, 1, 4, 3}), 1e-5, 1e-6));
}

TEST(FedNewsRecModel, WholeLossMatchesFiniteDifferences) {
  auto model = narrow_model(torch::kFloat64);
  const std::vector<data::ItemId> history = {0, 3, 1}, none = {};
  RankingBatch batch(3, 50);
  batch.add(history, std::vector<data::ItemId>{4, 1, 2});
  batch.add(none, std::vector<data::ItemId>{3, 0, 4}, 2.0F);
  std::vector<Tensor> parameters = model->parameters();
  testing::expect_gradients_match(
      [&] {
        Pass pass;
        return batch.loss(*model, pass);
      },
      parameters, 1e-5);
}

TEST(RecentGru, EqualsTheTextbookLoop) {
  torch::manual_seed(12);
  RecentGru gru(3, 4, 5);
  auto named = gru.named_parameters();
  const Tensor rows = torch::randn({12, 3});
  const Segments segments({0, 7, 7, 9, 12});
  const Tensor states = gru.forward(rows, segments);
  const auto weight = [&](const char* name, std::int64_t first, std::int64_t last) {
    return named[name].slice(-1, first, last);
  };
  for (std::int64_t n = 0; n < 4; ++n) {
    Tensor state = torch::zeros({4});
    for (std::int64_t i = std::max(segments.offsets()[n], segments.offsets()[n + 1] - 5);
         i < segments.offsets()[n + 1]; ++i) {
      const Tensor x = rows[i];
      const Tensor update =
          (x.matmul(weight("input", 0, 4)) + state.matmul(weight("gates", 0, 4)) + weight("bias", 0, 4))
              .sigmoid();
      const Tensor reset =
          (x.matmul(weight("input", 4, 8)) + state.matmul(weight("gates", 4, 8)) + weight("bias", 4, 8))
              .sigmoid();
      const Tensor proposal = (x.matmul(weight("input", 8, 12)) + (reset * state).matmul(named["candidate"]) +
                               weight("bias", 8, 12))
                                  .tanh();
      state = update * state + (1 - update) * proposal;
    }
    EXPECT_TRUE(torch::allclose(states[n], state, 1e-5, 1e-6)) << "segment " << n;
  }
}

TEST(RankingBatch, EncodesEachItemAndHistoryOnce) {
  const std::vector<data::ItemId> history = {0, 3, 1};
  RankingBatch batch(2, 50);
  batch.add(history, std::vector<data::ItemId>{4, 1});
  batch.add(history, std::vector<data::ItemId>{3, 4});
  EXPECT_EQ(batch.items().size(), 4U);
  EXPECT_EQ(batch.histories().size(), 1U);
  EXPECT_EQ(batch.samples(), 2U);
}

TEST(RankingBatch, HistoriesOfDifferentUsersStayApart) {
  const std::vector<data::ItemId> shared = {0, 3, 1};
  RankingBatch batch(2, 50);
  batch.add(shared, std::vector<data::ItemId>{4, 1}, 1, 7);
  batch.add(shared, std::vector<data::ItemId>{4, 1}, 1, 8);
  batch.add(shared, std::vector<data::ItemId>{3, 4}, 1, 7);
  EXPECT_EQ(batch.histories().users, (std::vector<data::UserId>{7, 8}));
}

TEST(RankingBatch, LossIsTheSumOverSamples) {
  auto model = narrow_model();
  const std::vector<data::ItemId> first = {0, 3, 1}, second = {4};
  Pass pass;
  RankingBatch together(2, 50), a(2, 50), b(2, 50);
  together.add(first, std::vector<data::ItemId>{4, 1});
  together.add(second, std::vector<data::ItemId>{0, 3}, 3);
  a.add(first, std::vector<data::ItemId>{4, 1});
  b.add(second, std::vector<data::ItemId>{0, 3});
  EXPECT_NEAR(together.loss(*model, pass).item<double>(),
              a.loss(*model, pass).item<double>() + 3 * b.loss(*model, pass).item<double>(), 1e-5);
}

TEST(RankingBatch, KeepsTheLastClicksOfALongHistory) {
  const std::vector<data::ItemId> history = {0, 1, 3, 4};
  RankingBatch batch(2, 2);
  batch.add(history, std::vector<data::ItemId>{0, 1});
  EXPECT_EQ(batch.histories().rows.size(), 2U);
  EXPECT_EQ(batch.items()[0], 3U);
}

TEST(FlatParameters, AreTheModulesOwnMemory) {
  auto model = narrow_model();
  FlatParameters flat(*model);
  flat.values().zero_();
  for (const auto& parameter : model->parameters()) EXPECT_TRUE(parameter.eq(0).all().item<bool>());
  flat.values().fill_(0.5);
  const std::vector<data::ItemId> history = {0, 3};
  RankingBatch batch(2, 50);
  batch.add(history, std::vector<data::ItemId>{4, 1});
  Pass pass;
  batch.loss(*model, pass).backward();
  const double once = flat.gradients().norm().item<double>();
  EXPECT_GT(once, 0);
  batch.loss(*model, pass).backward();
  EXPECT_NEAR(flat.gradients().norm().item<double>(), 2 * once, 1e-4 * once);
  flat.zero_gradients();
  EXPECT_EQ(model->parameters()[0].grad().abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace sotto::model
