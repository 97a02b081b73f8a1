// FCF's device solves its own least squares exactly, and returns the true gradient.

#include <gtest/gtest.h>

#include <algorithm>

#include "fl/factorisation_training.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

struct Small {
  Small() {
    torch::manual_seed(1);
    factors = torch::randn({7, 3});
    settings.confidence = 2, settings.regularisation = 0.3;
  }
  // The objective of one device, in the plainest way.
  Tensor loss(const Tensor& items, const Tensor& reader, const OwnItems& own) const {
    Tensor sum = settings.regularisation * reader.square().sum();
    for (std::int64_t i = 0; i < items.size(0); ++i) {
      const bool mine = std::find(own.begin(), own.end(), i) != own.end();
      sum =
          sum + (mine ? 1 + settings.confidence : 1.0) * ((mine ? 1.0 : 0.0) - reader.dot(items[i])).square();
    }
    return sum;
  }
  Tensor factors;
  FactorisationSettings settings;
  std::vector<OwnItems> users = {{0, 2}, {5}, {1, 2, 3, 6}};
};

TEST(Factorisation, ADeviceSolvesItsLeastSquares) {
  const Small small;
  const Tensor readers = solve_users(small.factors, small.users, small.settings);
  for (std::size_t u = 0; u < small.users.size(); ++u) {
    const Tensor reader = readers[static_cast<std::int64_t>(u)].clone().requires_grad_();
    small.loss(small.factors, reader, small.users[u]).backward();
    EXPECT_LT(reader.grad().abs().max().item<double>(), 1e-4);
  }
}

TEST(Factorisation, TheGradientIsThatOfTheSquaredErrors) {
  const Small small;
  const Tensor readers = solve_users(small.factors, small.users, small.settings);
  const Tensor items = small.factors.clone().requires_grad_();
  for (std::size_t u = 0; u < small.users.size(); ++u)
    (small.loss(items, readers[static_cast<std::int64_t>(u)], small.users[u]) / 3).backward();
  const auto found = factor_gradient(small.factors, small.users, small.settings);
  EXPECT_LT((found.gradient - items.grad()).abs().max().item<double>(), 1e-4);
}

}  // namespace
}  // namespace sotto::fl
