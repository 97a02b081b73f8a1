// The news model on the server and the user model on the devices, against the whole model on the devices.

#include <gtest/gtest.h>

#include "fl/server_optimiser.h"
#include "fl/split_fold.h"
#include "fl/tiny_training.h"

namespace sotto::fl {
namespace {

using testing::relative_difference;
using testing::Tiny;
using torch::Tensor;

class Split : public ::testing::TestWithParam<const char*> {};

TEST_P(Split, SummedDeviceGradientsAreTheGradientOfTheWholeModel) {
  Tiny tiny(0, 5, GetParam());
  auto split = SplitTraining::create(*tiny.training, *tiny.model).value();
  std::vector<data::ItemId> items(10);
  for (data::ItemId i = 0; i < 10; ++i) items[i] = i;
  Tensor sum = torch::zeros({static_cast<std::int64_t>(split.dimension(items.size()))}),
         own = torch::empty_like(sum);
  double loss = 0;
  ASSERT_TRUE(split.devices(4, tiny.data.users, items, split.infer(items), split.user_encoder(),
                            [&](data::UserId, const DeviceGradients& device) -> Status {
                              write_device_update(device, items, own);
                              sum += own;
                              loss += device.loss;
                              return {};
                            }));
  const Tensor split_gradient = split.whole_gradient(items, sum).clone();
  const auto whole = tiny.training->cohort_gradient(4, tiny.data.users, Weighting::samples);
  EXPECT_LT(relative_difference(split_gradient, whole.gradient), 1e-5);
  EXPECT_NEAR(loss, whole.loss, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Federated, Split, ::testing::Values("fednewsrec", "nrms", "naml", "ebnr"));

TEST(Split, IsRefusedForModelsWithVectorsOfUsers) {
  Tiny tiny(0, 5, "lstur");
  const auto split = SplitTraining::create(*tiny.training, *tiny.model);
  ASSERT_FALSE(split);
  EXPECT_NE(split.error().message.find("nrms"), std::string::npos);
}

TEST(Split, DeviceKnowsOnlyItsOwnItems) {
  Tiny tiny(0, 5, "nrms");
  auto split = SplitTraining::create(*tiny.training, *tiny.model).value();
  const data::UserId user = tiny.data.users[3];
  const std::vector<data::ItemId> own = split.items_of(2, user);
  EXPECT_LT(own.size(), 10U);
  EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
  const auto few = std::span(own).first(own.size() - 1);
  EXPECT_FALSE(split.devices(2, {&user, 1}, few, split.infer(few), split.user_encoder(),
                             [](data::UserId, const DeviceGradients&) -> Status { return {}; }));
}

struct UnionRounds {
  UnionRounds(const Tiny& tiny, SplitTraining& split, const EfficientSettings& settings)
      : sampler(CohortSampler::create(tiny.data.users, settings.group, 5).value()),
        fold(settings, sampler, split, 10, 5),
        gather({{sampler, every_round}, fold, privacy::NoiseOrigin::reproducible(5)}) {}
  Result<RoundUpdate> round(std::uint32_t number) { return rounds.round(number); }
  CohortSampler sampler;
  UnionFold fold;
  SimulatedGather gather;
  CohortRounds rounds{fold, gather};
};

TEST(UnionFold, UpdateEqualsThatOfFullModelTrainingUpToTheGrid) {
  Tiny tiny(0, 5, "nrms");
  auto split = SplitTraining::create(*tiny.training, *tiny.model).value();
  EfficientSettings settings;
  settings.group = 6;
  settings.compress = false;
  const auto ours = UnionRounds(tiny, split, settings).round(3).value();
  const Tensor direction = ours.direction.clone();
  FederatedSettings federated;
  federated.cohort = 6;
  const auto whole = tiny.source(federated).round(3).value();
  EXPECT_LT(relative_difference(direction, whole.direction), 1e-4);
  EXPECT_NEAR(ours.loss, whole.loss, 1e-5);
  EXPECT_EQ(ours.samples, whole.samples);
}

TEST(UnionFold, CompressedUpdateIsCloseAndAFractionOfTheBytes) {
  Tiny tiny(0, 5, "nrms");
  auto split = SplitTraining::create(*tiny.training, *tiny.model).value();
  EfficientSettings plain, compressed;
  plain.group = compressed.group = 6;
  compressed.compress = true;
  plain.largest_update = compressed.largest_update = 5;
  const auto exact = UnionRounds(tiny, split, plain).round(3).value();
  const auto small = UnionRounds(tiny, split, compressed).round(3).value();
  EXPECT_LT(relative_difference(small.direction, exact.direction), 0.1);
  EXPECT_GT(relative_difference(small.direction, exact.direction), 0);
  EXPECT_LT(3 * small.bytes_down, exact.bytes_down);
  EXPECT_LT(small.bytes_up, exact.bytes_up);
}

TEST(UnionFold, ARoundAskedForAgainIsTheSame) {
  Tiny tiny(0.2, 5, "nrms");
  auto split = SplitTraining::create(*tiny.training, *tiny.model).value();
  EfficientSettings settings;
  settings.group = 6;
  UnionRounds source(tiny, split, settings);
  const Tensor first = source.round(1).value().direction.clone();
  ASSERT_TRUE(source.round(2));
  EXPECT_TRUE(source.round(1).value().direction.equal(first));
}

TEST(SentAsBytes, IsWithinHalfAStepOfEveryRow) {
  torch::manual_seed(3);
  Tensor rows = torch::randn({20, 33}) * torch::logspace(-6, 3, 20).unsqueeze(1);
  rows[7].zero_();
  const Received received = sent_as_bytes(rows);
  EXPECT_EQ(received.bytes, 20U * 33 + 20 * 2);
  const Tensor bound = rows.abs().amax(1, true) / 254 * 1.002 + 1e-7;
  EXPECT_TRUE((received.values - rows).abs().le(bound).all().item<bool>());
  EXPECT_TRUE(received.values[7].eq(0).all().item<bool>());
}

TEST(SplitOptimiser, StepsEachPartByItsOwnRule) {
  OptimiserSettings sgd, adam;
  sgd.optimiser = "sgd", sgd.learning_rate = 0.5;
  adam.optimiser = "adam", adam.learning_rate = 0.1;
  Tensor values = torch::zeros({5});
  SplitOptimiser both(make_optimiser(sgd, values.slice(0, 0, 2)).value(),
                      make_optimiser(adam, values.slice(0, 2)).value(), 2);
  both.step(values, torch::tensor({1.0F, -2.0F, 3.0F, -4.0F, 5.0F}), 0);
  EXPECT_TRUE(values.allclose(torch::tensor({-0.5F, 1.0F, -0.1F, 0.1F, -0.1F}), 1e-5, 1e-6));
}

}  // namespace
}  // namespace sotto::fl
