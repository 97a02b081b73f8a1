// The device's training in Eigen against the server's in libtorch, over the readers of a generated newsroom.

#include "fl/device_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/newsroom_training.h"
#include "fl/personal_model.h"

namespace sotto::fl {
namespace {

using testing::expect_same;
using ::testing::HasSubstr;
using testing::newsroom;
using torch::Tensor;

// The flagship as its recipe makes it, away from its first values.
struct Flagship {
  Flagship() {
    torch::manual_seed(3);
    const Tensor words = torch::randn({testing::newsroom_words, 9}) * 0.5;
    words.select(1, 8).abs_();  // how much a word says
    const model::ModelInputs inputs{{}, words, testing::newsroom_titles(), {}};
    auto towers = std::dynamic_pointer_cast<model::NewsRecommender>(
        model::find_model("catalogue").value()->make(inputs));
    model = std::make_shared<PersonalModel>(towers);
    parameters = std::make_unique<model::FlatParameters>(*model);
    parameters->values().add_(torch::randn({parameters->size()}) * 0.2);
    const Newsroom& data = newsroom();
    training =
        std::make_unique<NewsTraining>(data.dataset, data.data, data.settings, *model, *parameters, 11);
    std::vector<data::ItemId> all(data.dataset.item_count());
    std::iota(all.begin(), all.end(), 0);
    const torch::NoGradGuard no_grad;
    model::Pass pass = model::Pass::evaluation();
    items = model->encode_items(all, pass);
    published = std::make_unique<testing::PublishedValues>(*parameters);
  }
  using Newsroom = testing::Newsroom;
  DeviceTask task() const {
    DeviceTask task;
    task.recipe = "sotto";
    task.local = {{"negatives", "3"}, {"max_history", "12"}, {"vector_size", "8"}};
    task.layout = parameters->layout();
    task.vectors = items;
    return task;
  }
  Result<std::unique_ptr<DeviceUpdates>> devices_of(const DeviceTask& task, std::uint64_t seed = 11) const {
    return DeviceUpdates::create(task, *published,
                                 impressions_on_devices(newsroom().dataset, newsroom().data), seed);
  }
  std::unique_ptr<DeviceUpdates> devices(std::uint64_t seed = 11) const {
    published->publish();
    return devices_of(task(), seed).value();
  }

  std::shared_ptr<PersonalModel> model;
  std::unique_ptr<model::FlatParameters> parameters;
  std::unique_ptr<NewsTraining> training;
  Tensor items;
  std::unique_ptr<testing::PublishedValues> published;
};

TEST(DeviceUpdates, OfTheFlagshipEqualLibtorchsGradientsForEveryReader) {
  Flagship flagship;
  const auto devices = flagship.devices();
  std::size_t seen = 0, longest = 0, without_history = 0;
  const auto& users = newsroom().data.users;
  ASSERT_TRUE(devices->each_update(4, users, [&](const UserUpdate& own) -> Status {
    EXPECT_EQ(own.user, users[seen++]);
    const LocalGradient server = flagship.training->user_gradient(4, own.user);
    expect_same(own.direction, server.gradient);
    EXPECT_GT(server.gradient.norm().item<double>(), 0);
    EXPECT_NEAR(own.loss, server.loss, 1e-5 * server.loss);
    EXPECT_EQ(own.samples, server.samples);
    for (const data::TrainingSample& sample : newsroom().data.of(own.user)) {
      const std::size_t clicks = newsroom().dataset.impression(sample.impression).history.size();
      longest = std::max(longest, clicks);
      without_history += clicks == 0 ? 1 : 0;
    }
    return {};
  }));
  EXPECT_EQ(seen, users.size());
  EXPECT_GT(longest, 12U) << "some history is cut";
  EXPECT_GT(without_history, 0U) << "some history is empty";
}

TEST(DeviceUpdates, FollowFromSeedRoundAndUserAlone) {
  const Flagship flagship;
  const auto collect = [&](std::uint64_t seed, std::uint32_t round, std::vector<data::UserId> users) {
    std::vector<Tensor> directions;
    const auto devices = flagship.devices(seed);
    EXPECT_TRUE(devices->each_update(round, users, [&](const UserUpdate& own) -> Status {
      directions.push_back(own.direction.clone());
      return {};
    }));
    return directions;
  };
  const auto& users = newsroom().data.users;
  const auto both = collect(11, 2, {users[3], users[7]}), swapped = collect(11, 2, {users[7], users[3]});
  EXPECT_TRUE(torch::equal(both[0], swapped[1]));
  EXPECT_TRUE(torch::equal(both[1], swapped[0]));
  EXPECT_FALSE(torch::equal(both[0], collect(11, 3, {users[3]})[0]));
  EXPECT_FALSE(torch::equal(both[0], collect(12, 2, {users[3]})[0]));
}

TEST(DeviceUpdates, AreZeroForAUserWithoutClicks) {
  const Flagship flagship;
  const auto devices = flagship.devices();
  const std::vector<data::UserId> nobody = {static_cast<data::UserId>(newsroom().dataset.user_count())};
  std::size_t seen = 0;
  ASSERT_TRUE(devices->each_update(0, nobody, [&](const UserUpdate& own) -> Status {
    ++seen;
    EXPECT_EQ(own.direction.abs().sum().item<float>(), 0);
    EXPECT_EQ(own.direction.numel(), flagship.parameters->size());
    EXPECT_EQ(own.samples, 0U);
    return {};
  }));
  EXPECT_EQ(seen, 1U);
}

TEST(DeviceUpdates, RefuseAModelOfAnotherLayout) {
  const Flagship flagship;
  DeviceTask other = flagship.task();
  other.local.clear();
  const auto made = flagship.devices_of(other);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("shared.scale:8"));
  EXPECT_THAT(made.error().message, HasSubstr("shared.scale:64"));
}

}  // namespace
}  // namespace sotto::fl
