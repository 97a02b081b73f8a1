#include <gtest/gtest.h>

#include "fl/server_optimiser.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

TailAverage averaged(const Tensor& parameters, std::uint32_t first, std::uint32_t rounds) {
  OptimiserSettings plain;
  plain.optimiser = "sgd";
  plain.learning_rate = 1;
  return {make_optimiser(plain, parameters).value(), parameters, first, rounds};
}

TEST(TailAverage, TheLastStepGivesTheMeanOfTheTail) {
  Tensor parameters = torch::zeros({2});
  auto optimiser = averaged(parameters, 2, 5);
  for (std::uint32_t round = 0; round < 5; ++round) {
    optimiser.step(parameters, torch::tensor({-1.0F, 2.0F}), round);
    // Until then the iterates are the inner optimiser's: 1, 2, 3, ...
    if (round < 4) {
      EXPECT_EQ(parameters[0].item<float>(), static_cast<float>(round + 1));
    }
  }
  EXPECT_FLOAT_EQ(parameters[0].item<float>(), (3 + 4 + 5) / 3.0F);
  EXPECT_FLOAT_EQ(parameters[1].item<float>(), -2 * (3 + 4 + 5) / 3.0F);
}

TEST(TailAverage, IsContinuedFromItsState) {
  Tensor whole = torch::zeros({2}), parts = torch::zeros({2});
  auto straight = averaged(whole, 1, 4), before = averaged(parts, 1, 4);
  const Tensor direction = torch::tensor({0.5F, -0.25F});
  for (std::uint32_t round = 0; round < 4; ++round) straight.step(whole, direction, round);
  for (std::uint32_t round = 0; round < 2; ++round) before.step(parts, direction, round);
  auto after = averaged(parts, 1, 4);
  const auto stored = before.state(), restored = after.state();
  ASSERT_EQ(stored.size(), restored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) restored[i]->copy_(*stored[i]);
  for (std::uint32_t round = 2; round < 4; ++round) after.step(parts, direction, round);
  EXPECT_TRUE(torch::equal(whole, parts));
}

}  // namespace
}  // namespace sotto::fl
