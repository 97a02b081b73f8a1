// Many users in one batch, each with its own gradient or its own weights, against one user after another.

#include <gtest/gtest.h>

#include "fl/tiny_training.h"

namespace sotto::fl {
namespace {

using testing::Tiny;
using torch::Tensor;

class EveryUser : public ::testing::TestWithParam<const char*> {};

struct Collected {
  std::vector<data::UserId> users;
  std::vector<Tensor> gradients;
  std::vector<double> losses;
  std::vector<std::uint64_t> samples;
  EachUser each() {
    return [this](data::UserId user, const LocalGradient& own) -> Status {
      users.push_back(user);
      gradients.push_back(own.gradient.clone());
      losses.push_back(own.loss);
      samples.push_back(own.samples);
      return {};
    };
  }
};

// A user without history has no gradient in models that score it with the zero vector.
void expect_equal(const Collected& together, std::size_t i, const LocalGradient& alone) {
  const double scale = alone.gradient.norm().item<double>();
  if (i > 0) {
    EXPECT_GT(scale, 0);
  }
  EXPECT_LE((together.gradients[i] - alone.gradient).norm().item<double>(), 1e-5 * scale);
  EXPECT_NEAR(together.losses[i], alone.loss, 1e-5);
  EXPECT_EQ(together.samples[i], alone.samples);
}

TEST_P(EveryUser, GradientEqualsTheUsersAloneWithTheSameDropout) {
  Tiny tiny(0.3, 5, GetParam());
  Collected together;
  ASSERT_TRUE(tiny.training->user_gradients(7, tiny.data.users, together.each()));
  ASSERT_EQ(together.users, tiny.data.users);
  for (std::size_t i = 0; i < together.users.size(); ++i)
    expect_equal(together, i, tiny.training->user_gradient(7, together.users[i]));
}

TEST_P(EveryUser, LocalEpochsOnOwnCopiesEqualTheUsersAlone) {
  Tiny tiny(0.3, 6, GetParam());
  const Tensor before = tiny.parameters->values().clone();
  const LocalEpochs local{3, 2, 0.2};  // users have two or three samples: some finish an epoch earlier
  Collected together;
  ASSERT_TRUE(tiny.training->users_epochs(2, tiny.data.users, local, together.each()));
  EXPECT_TRUE(tiny.parameters->values().equal(before));
  for (std::size_t i = 0; i < together.users.size(); ++i)
    expect_equal(together, i, tiny.training->user_epochs(2, together.users[i], local));
}

INSTANTIATE_TEST_SUITE_P(Federated, EveryUser,
                         ::testing::Values("fednewsrec", "nrms", "naml", "ebnr", "plm-nr", "catalogue"));

TEST(EveryUser, GradientOfAUserDoesNotDependOnTheCohort) {
  Tiny tiny(0.3);
  Collected all, few;
  ASSERT_TRUE(tiny.training->user_gradients(1, tiny.data.users, all.each()));
  const std::vector<data::UserId> chosen = {tiny.data.users[5], tiny.data.users[1]};
  ASSERT_TRUE(tiny.training->user_gradients(1, chosen, few.each()));
  EXPECT_TRUE(few.gradients[0].allclose(all.gradients[5], 1e-5, 1e-7));
  EXPECT_TRUE(few.gradients[1].allclose(all.gradients[1], 1e-5, 1e-7));
}

TEST(EveryUser, IsRefusedByAModelThatDoesNotTellUsersApart) {
  Tiny tiny(0, 5, "lstur");
  Collected together;
  const Status status = tiny.training->user_gradients(1, tiny.data.users, together.each());
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("tell users apart"), std::string::npos);
}

TEST(EveryUser, AnErrorStopsTheRound) {
  Tiny tiny;
  int calls = 0;
  const auto stop = [&](data::UserId, const LocalGradient&) -> Status {
    ++calls;
    return failed("enough");
  };
  EXPECT_FALSE(tiny.training->user_gradients(1, tiny.data.users, stop));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sotto::fl
