// Personal vectors descend the reader's own loss, from training impressions alone, and only devices use them.

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "fl/personal_model.h"
#include "fl/tiny_training.h"

namespace sotto::fl {
namespace {

using testing::Tiny;
using torch::Tensor;

model::NewsRecommender& towers(const Tiny& tiny) {
  return dynamic_cast<model::NewsRecommender&>(*tiny.model);
}

// −Σ log softmax over a user's training impressions, plus weight/2·|p|², written with torch.
Tensor own_loss(const Tiny& tiny, data::UserId user, const Tensor& p, double weight, double& clicks) {
  std::vector<data::ItemId> all(tiny.dataset.item_count());
  std::iota(all.begin(), all.end(), data::ItemId{0});
  model::Pass pass = model::Pass::evaluation();
  const Tensor items = towers(tiny).encode_items(all, pass).detach();
  Tensor loss = p.pow(2).sum() * (weight / 2);
  const auto [first, last] = tiny.dataset.impressions_of(user);
  for (std::size_t i = first; i < last; ++i) {
    const data::Impression impression = tiny.dataset.impression(i);
    if (impression.split != data::Split::train) continue;
    model::Histories history;
    history.add(std::vector<std::int64_t>(impression.history.begin(), impression.history.end()), user);
    const Tensor u = towers(tiny).encode_users(items, history, pass)[0].detach();
    const std::vector<std::int64_t> shown(impression.shown.begin(), impression.shown.end());
    const Tensor scores = items.index_select(0, torch::tensor(shown)).mv(u + p).log_softmax(0);
    for (std::size_t j = 0; j < shown.size(); ++j) {
      if (impression.clicked[j] == 0) continue;
      loss = loss - scores[static_cast<std::int64_t>(j)];
      ++clicks;
    }
  }
  return loss;
}

Tensor by_definition(const Tiny& tiny, data::UserId user, const PersonalSettings& settings) {
  Tensor p = torch::zeros({towers(tiny).vector_size()}, torch::requires_grad());
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    double clicks = 0;
    const Tensor loss = own_loss(tiny, user, p, settings.weight, clicks);
    const Tensor gradient = torch::autograd::grad({loss}, {p})[0];
    p = (p.detach() - gradient / (settings.weight + clicks)).set_requires_grad(true);
  }
  return p.detach();
}

TEST(PersonalVectors, AreTheDescentTheyAreWrittenAs) {
  const Tiny tiny(0, 5, "nrms");
  const PersonalSettings settings{3, 0.5};
  const auto personal = PersonalVectors::learn(towers(tiny), tiny.dataset, {3, 2}, 50, settings);
  const Tensor rows = personal.rows({2, 3});
  EXPECT_TRUE(torch::allclose(rows[0], by_definition(tiny, 2, settings), 1e-4, 1e-6));
  EXPECT_TRUE(torch::allclose(rows[1], by_definition(tiny, 3, settings), 1e-4, 1e-6));
  double clicks = 0;
  EXPECT_LT(own_loss(tiny, 2, rows[0], settings.weight, clicks).item<double>(),
            own_loss(tiny, 2, torch::zeros_like(rows[0]), settings.weight, clicks).item<double>());
}

TEST(PersonalVectors, StrangersAndDevicesThatTakeNoStepHaveNone) {
  const Tiny tiny(0, 5, "nrms");
  const auto personal = PersonalVectors::learn(towers(tiny), tiny.dataset, {1}, 50, {2, 1});
  EXPECT_EQ(personal.rows({5}).abs().sum().item<float>(), 0);
  EXPECT_TRUE(PersonalVectors::learn(towers(tiny), tiny.dataset, {1}, 50, {0, 1}).of_user.empty());
}

TEST(PersonalModel, AddsThemWhenRankingAndNotWhenTraining) {
  const Tiny tiny(0, 5, "nrms");
  PersonalModel model(std::dynamic_pointer_cast<model::NewsRecommender>(tiny.model));
  const std::vector<data::ItemId> items = {0, 1, 2};
  model::Histories histories;
  histories.add(std::vector<std::int64_t>{0, 1}, 7);
  histories.add(std::vector<std::int64_t>{2}, 8);
  model::Pass ranking = model::Pass::evaluation(), training = model::Pass::train(1, 1);
  const Tensor vectors = model.encode_items(items, ranking);
  const Tensor before = model.encode_users(vectors, histories, ranking).detach();
  PersonalVectors personal;
  personal.size = model.vector_size();
  personal.of_user[7] = std::vector<float>(static_cast<std::size_t>(personal.size), 0.5F);
  model.use(personal);
  const Tensor ranked = model.encode_users(vectors, histories, ranking).detach();
  EXPECT_TRUE(torch::allclose(ranked[0], before[0] + 0.5));
  EXPECT_TRUE(torch::equal(ranked[1], before[1]));
  EXPECT_TRUE(torch::allclose(model.encode_users(vectors, histories, training).detach(), before));
}

}  // namespace
}  // namespace sotto::fl
