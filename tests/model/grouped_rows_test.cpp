#include <gtest/gtest.h>

#include "model/cohort/weighted_rows.h"

namespace sotto::model {
namespace {

using torch::Tensor;

struct Weights : torch::nn::Module {
  Weights()
      : before(register_parameter("before", torch::randn({2}))),
        weight(register_parameter("weight", torch::randn({4, 3}))),
        bias(register_parameter("bias", torch::randn({3}))),
        table(register_parameter("table", torch::randn({6, 4}))) {}
  Tensor before, weight, bias, table;
};

// Users of 0, 1, 30, 3, 0 and 2 rows: pieces of 6 rows.
const std::vector<std::int64_t> unequal = {0, 0, 1, 31, 34, 34, 36};

class GroupedRows : public ::testing::Test {
 protected:
  GroupedRows() {
    torch::manual_seed(1);
    own_.values().add_(torch::randn_like(own_.values()));
  }

  // What the CPU's own operations, user after user, add to the gradients, and what `grouped` adds.
  void expect_same_gradients(const std::function<void()>& one_by_one, const std::function<void()>& grouped) {
    std::vector<Tensor> found;
    for (const auto& way : {one_by_one, grouped}) {
      own_.gradients().fill_(0.5);
      way();
      found.push_back(own_.gradients().clone());
    }
    EXPECT_FALSE(found[0].eq(0.5).all().item<bool>());
    EXPECT_TRUE(torch::allclose(found[0], found[1], 1e-5, 1e-5)) << found[0] - found[1];
  }

  Weights model_;
  FlatParameters flat_{model_};
  UserParameters own_{flat_, 6, UserParameters::Weights::own};
  Owners owners_ = c10::make_intrusive<RowOwners>(own_, unequal);
  Tensor x_ = torch::randn({36, 4}), dy_ = torch::randn({36, 3});
};

TEST_F(GroupedRows, KnowWhoseTheyAre) {
  const RowOwners owners(own_, {0, 0, 2, 3, 3, 3, 4});
  EXPECT_TRUE(owner_of_rows(owners, torch::kCPU).equal(torch::tensor({1, 1, 2, 5}, torch::kInt64)));
}

TEST_F(GroupedRows, GiveTheWeightGradientsOfEachUserAlone) {
  expect_same_gradients([&] { add_weight_gradients(*owners_, model_.weight, x_, dy_); },
                        [&] { add_grouped_weight_gradients(*owners_, model_.weight, x_, dy_); });
}

TEST_F(GroupedRows, GiveTheSumsOfEachUserAlone) {
  expect_same_gradients(
      [&] {
        for (std::int64_t user = 0; user < 6; ++user)
          own_.gradient(user, model_.bias).add_(dy_.slice(0, unequal[user], unequal[user + 1]).sum(0));
      },
      [&] { add_grouped_sums(*owners_, model_.bias, dy_); });
}

TEST_F(GroupedRows, GiveTheTableGradientsOfEachUserAlone) {
  std::vector<std::int64_t> read;
  for (std::int64_t row = 0; row < 36; ++row) read.push_back(row * row % 5);  // repeated, and row 5 never
  expect_same_gradients(
      [&] { (lookup(model_.table, read, owners_) * x_).sum().backward(); },
      [&] { add_grouped_row_gradients(*owners_, model_.table, torch::tensor(read, torch::kInt64), x_); });
}

TEST_F(GroupedRows, MeetTheirUsersOwnWeights) {
  EXPECT_TRUE(torch::allclose(grouped_product(*owners_, x_, model_.weight, false),
                              own_product(*owners_, x_, model_.weight, false), 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(grouped_product(*owners_, dy_, model_.weight, true),
                              own_product(*owners_, dy_, model_.weight, true), 1e-5, 1e-5));
}

TEST_F(GroupedRows, MayBeNone) {
  const RowOwners nobody(own_, std::vector<std::int64_t>(7, 0));
  const Tensor none = torch::zeros({0, 4}), no_gradients = torch::zeros({0, 3});
  add_grouped_weight_gradients(nobody, model_.weight, none, no_gradients);
  add_grouped_sums(nobody, model_.bias, no_gradients);
  add_grouped_row_gradients(nobody, model_.table, torch::zeros({0}, torch::kInt64), none);
  EXPECT_TRUE(own_.gradients().eq(0).all().item<bool>());
  EXPECT_EQ(grouped_product(nobody, none, model_.weight, false).sizes(), (std::vector<std::int64_t>{0, 3}));
}

}  // namespace
}  // namespace sotto::model
