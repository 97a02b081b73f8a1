#include <gtest/gtest.h>

#include <functional>

#include "model/cohort/weighted_rows.h"
#include "model/flat_parameters.h"
#include "model/layers/recurrent.h"
#include "model/recompute.h"
#include "model/small_news.h"

namespace sotto::model {
namespace {

using torch::Tensor;

TEST(Precision, HalfOfItNeedsAGpu) {
  EXPECT_EQ(precision_on("fp32", "cpu").value(), Precision::fp32);
  EXPECT_EQ(precision_on("bf16", "cuda").value(), Precision::bf16);
  const auto refused = precision_on("bf16", "cpu");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("precision=fp32"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(precision_on("fp16", "cuda"));
}

TEST(PrecisionRegion, EndsWithItsObject) {
  EXPECT_EQ(PrecisionRegion::current(), Precision::fp32);
  {
    const PrecisionRegion half(Precision::bf16);
    EXPECT_EQ(PrecisionRegion::current(), Precision::bf16);
    {
      const PrecisionRegion whole(Precision::fp32);
      EXPECT_EQ(PrecisionRegion::current(), Precision::fp32);
    }
    EXPECT_EQ(PrecisionRegion::current(), Precision::bf16);
  }
  EXPECT_EQ(PrecisionRegion::current(), Precision::fp32);
}

TEST(PrecisionRegion, LeavesTheCpuAlone) {
  const Tensor a = torch::ones({2, 2});
  const PrecisionRegion half(Precision::bf16);
  EXPECT_EQ(a.mm(a).scalar_type(), torch::kFloat32);
}

// How users meet the weights: one gradient for all, each user's own gradient, each user's own copy.
enum class Users { together, apart, with_copies };

struct Learned {
  double loss = 0;
  Tensor gradients;
};

Learned learn(std::string_view name, Users told, Precision precision, torch::Device device = torch::kCUDA) {
  const auto model = testing::small_model(name);
  model->to(device);
  FlatParameters flat(*model);
  UserParameters own(
      flat, 2, told == Users::with_copies ? UserParameters::Weights::own : UserParameters::Weights::shared);
  const std::vector<data::ItemId> history = {0, 3, 1}, none = {};
  RankingBatch batch(3, 50);
  if (told != Users::together) batch.begin_user(1);
  batch.add(history, std::vector<data::ItemId>{4, 1, 2}, 1, 1);
  if (told != Users::together) batch.begin_user(2);
  batch.add(none, std::vector<data::ItemId>{3, 0, 4}, 2);
  UserBatch users;
  Pass pass;
  if (told != Users::together) {
    users = batch.users(own);
    pass.users = &users;
  }
  Tensor loss;
  {
    const PrecisionRegion region(precision);
    loss = batch.loss(*model, pass);
  }
  loss.backward();
  return {loss.item<double>(), (told == Users::together ? flat.gradients() : own.gradients()).cpu()};
}

// Every model, with every way in which users can meet its weights.
void for_every_way_to_learn(const std::function<void(std::string_view name, Users told)>& check) {
  for (const auto& entry : models()) {
    SCOPED_TRACE(entry.name);
    for (const Users told : {Users::together, Users::apart, Users::with_copies}) {
      SCOPED_TRACE(static_cast<int>(told));
      if (told == Users::together || entry.federated()) {
        EXPECT_NO_THROW(check(entry.name, told));
      }
    }
  }
}

// The CPU computes with ragged kernels, user by user; a card with padded tensors, all users at once.
TEST(Cuda, EveryModelLearnsTheSameAsOnTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for_every_way_to_learn([](std::string_view name, Users told) {
    const Learned cpu = learn(name, told, Precision::fp32, torch::kCPU);
    const Learned card = learn(name, told, Precision::fp32);
    EXPECT_NEAR(card.loss, cpu.loss, 1e-5 * std::abs(cpu.loss));
    EXPECT_TRUE(torch::allclose(card.gradients, cpu.gradients, 1e-4, 1e-5))
        << (card.gradients - cpu.gradients).abs().max();
  });
}

TEST(PrecisionRegion, EveryModelLearnsNearlyTheSameInHalfOfItOnCuda) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for_every_way_to_learn([](std::string_view name, Users told) {
    const Learned whole = learn(name, told, Precision::fp32);
    const Learned half = learn(name, told, Precision::bf16);
    EXPECT_NEAR(half.loss, whole.loss, 0.03 * std::abs(whole.loss));
    // Small models: one rectifier near zero that switches moves a tenth of a gradient.
    EXPECT_LT((half.gradients - whole.gradients).norm().item<double>(),
              0.3 * whole.gradients.norm().item<double>());
  });
}

// What autocast hands to functions with a backward pass of their own, which it does not reach.
Tensor rounded(const Tensor& x) { return x.detach().to(torch::kBFloat16); }

TEST(HalfPrecisionRows, AGruGivesNearlyTheSameGradients) {
  torch::manual_seed(1);
  const Tensor projected = torch::randn({5, 9}), initial = torch::randn({2, 3});
  const GruSteps steps{{2, 2, 1}, {}, {}};
  const auto gradients = [&](const Tensor& rows, const Tensor& start) {
    torch::manual_seed(2);
    const Tensor x = rows.clone().requires_grad_(), gates = torch::randn({3, 6}).requires_grad_(),
                 candidate = torch::randn({3, 3}).requires_grad_();
    const Tensor states = gru_states(x, start, gates, candidate, steps);
    EXPECT_EQ(states.scalar_type(), torch::kFloat32);
    states.sum().backward();
    return torch::cat(
        {x.grad().to(torch::kFloat32).flatten(), gates.grad().flatten(), candidate.grad().flatten()});
  };
  const Tensor whole = gradients(projected, initial), half = gradients(rounded(projected), rounded(initial));
  EXPECT_LT((half - whole).norm().item<double>(), 0.02 * whole.norm().item<double>());
}

class HalfPrecisionProducts : public ::testing::TestWithParam<UserParameters::Weights> {};

TEST_P(HalfPrecisionProducts, GiveEveryUserNearlyTheSameGradient) {
  struct Weights : torch::nn::Module {
    Weights()
        : weight(register_parameter("weight", torch::randn({4, 3}))),
          bias(register_parameter("bias", torch::randn({3}))) {}
    Tensor weight, bias;
  };
  torch::manual_seed(3);
  Weights model;
  FlatParameters flat(model);
  const Tensor rows = torch::randn({5, 4});
  const auto gradients = [&](const Tensor& x_in) {
    UserParameters own(flat, 2, GetParam());
    const Tensor x = x_in.clone().requires_grad_();
    const auto owners = c10::make_intrusive<RowOwners>(own, std::vector<std::int64_t>{0, 2, 5});
    affine(x, model.weight, model.bias, owners).pow(2).sum().backward();
    product_transposed(affine(x, model.weight, model.bias, owners), model.weight, owners).sum().backward();
    return torch::cat({x.grad().to(torch::kFloat32).flatten(), own.gradients().flatten()});
  };
  const Tensor whole = gradients(rows), half = gradients(rounded(rows));
  EXPECT_LT((half - whole).norm().item<double>(), 0.02 * whole.norm().item<double>());
}

INSTANTIATE_TEST_SUITE_P(BothKindsOfWeights, HalfPrecisionProducts,
                         ::testing::Values(UserParameters::Weights::shared, UserParameters::Weights::own));

}  // namespace
}  // namespace sotto::model
