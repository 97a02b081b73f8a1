#include "model/precision.h"

#include <gtest/gtest.h>

#include "model/flat_parameters.h"
#include "model/small_news.h"

namespace sotto {
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

struct Learned {
  double loss;
  Tensor gradients;
};

Learned learn(std::string_view name, Precision precision) {
  const auto model = testing::small_model(name);
  model->to(torch::kCUDA);
  FlatParameters flat(*model);
  const std::vector<ItemId> history = {0, 3, 1}, none = {};
  RankingBatch batch(3, 50);
  batch.add(history, std::vector<ItemId>{4, 1, 2}, 1, 1);
  batch.add(none, std::vector<ItemId>{3, 0, 4}, 2);
  Pass pass;
  Tensor loss;
  {
    const PrecisionRegion region(precision);
    loss = batch.loss(*model, pass);
  }
  loss.backward();
  return {loss.item<double>(), flat.gradients().cpu()};
}

TEST(PrecisionRegion, EveryModelLearnsNearlyTheSameInHalfOfItOnCuda) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for (const auto& entry : models()) {
    const Learned whole = learn(entry.name, Precision::fp32), half = learn(entry.name, Precision::bf16);
    EXPECT_NEAR(half.loss, whole.loss, 0.03 * std::abs(whole.loss)) << entry.name;
    EXPECT_LT((half.gradients - whole.gradients).norm().item<double>(),
              0.1 * whole.gradients.norm().item<double>())
        << entry.name;
  }
}

}  // namespace
}  // namespace sotto
