#pragma once
// Analytic gradients against central differences, in double.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "model/tensor.h"

namespace sotto::model::testing {

// function: a scalar of the given tensors (double, requires_grad). Checks every element of every tensor.
inline void expect_gradients_match(const std::function<torch::Tensor()>& function,
                                   const std::vector<torch::Tensor>& inputs, double tolerance = 1e-6) {
  for (auto input : inputs) input.mutable_grad() = torch::Tensor();
  function().backward();
  std::vector<torch::Tensor> analytic;
  for (const auto& input : inputs) {
    ASSERT_TRUE(input.grad().defined()) << "no gradient reached an input";
    analytic.push_back(input.grad().clone());
  }
  torch::NoGradGuard no_grad;
  constexpr double step = 1e-5;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    torch::Tensor flat = inputs[t].view({-1});
    const torch::Tensor expected = analytic[t].contiguous().view({-1});
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      const double value = flat[i].item<double>();
      flat[i] = value + step;
      const double up = function().item<double>();
      flat[i] = value - step;
      const double down = function().item<double>();
      flat[i] = value;
      ASSERT_NEAR(expected[i].item<double>(), (up - down) / (2 * step), tolerance)
          << "tensor " << t << ", element " << i;
    }
  }
}

}  // namespace sotto::model::testing
