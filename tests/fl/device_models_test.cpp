// The models that devices train in Eigen against libtorch's, over the readers of a generated newsroom.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/device_updates.h"
#include "fl/newsroom_training.h"
#include "fl/split_training.h"
#include "model/news/private_rec_model.h"

namespace sotto::fl {
namespace {

using testing::expect_same;
using testing::newsroom;
using torch::Tensor;

using Settings = std::vector<std::pair<std::string, std::string>>;

// A model of libtorch without dropout, away from its first values.
struct Server {
  Server(const char* name, bool train_words) : Server(name, small(train_words)) {}
  Server(const char* name, const model::NewsShape& shape, double away = 0.1) {
    torch::manual_seed(3);
    words = torch::randn({testing::newsroom_words, shape.word_size}) * 0.5;
    titles = testing::newsroom_titles();
    model = model::find_model(name).value()->make({shape, words.clone(), titles, {}});
    finish(away);
  }
  static model::NewsShape small(bool train_words) {
    model::NewsShape shape;
    shape.word_size = 6, shape.heads = 2, shape.head_size = 4, shape.pooling_size = 5,
    shape.recent_clicks = 3, shape.dropout = 0, shape.train_words = train_words;
    return shape;
  }
  // Biases start at zero: they move away.
  void finish(double away = 0.1) {
    parameters = std::make_unique<model::FlatParameters>(*model);
    parameters->values().add_(torch::randn({parameters->size()}) * away);
    const testing::Newsroom& data = newsroom();
    training =
        std::make_unique<NewsTraining>(data.dataset, data.data, data.settings, *model, *parameters, 11);
  }
  Tensor words;
  std::shared_ptr<model::ItemFeatures> titles;
  std::shared_ptr<model::RankingModel> model;
  std::unique_ptr<model::FlatParameters> parameters;
  std::unique_ptr<NewsTraining> training;
};

Settings sizes(Settings more = {}) {
  Settings all = {{"negatives", "3"}, {"max_history", "12"}, {"heads", "2"},
                  {"head_size", "4"}, {"pooling_size", "5"}, {"dropout", "0"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void expect_equal_gradients(Server& server, const std::string& recipe, const Settings& settings,
                            std::span<const data::UserId> users = newsroom().data.users) {
  DeviceTask task;
  task.recipe = recipe;
  task.local = settings;
  task.layout = server.parameters->layout();
  task.words = server.words;
  task.titles = server.titles->titles;
  testing::PublishedValues published(*server.parameters);
  published.publish();
  const auto devices =
      DeviceUpdates::create(task, published, impressions_on_devices(newsroom().dataset, newsroom().data), 11)
          .value();
  std::size_t seen = 0;
  ASSERT_TRUE(devices->each_update(4, users, [&](const UserUpdate& own) -> Status {
    ++seen;
    const LocalGradient expected = server.training->user_gradient(4, own.user);
    expect_same(own.direction, expected.gradient);
    EXPECT_GT(expected.gradient.norm().item<double>(), 0);
    EXPECT_NEAR(own.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_EQ(own.samples, expected.samples);
    return {};
  }));
  EXPECT_EQ(seen, users.size());
}

TEST(DeviceModels, FedNewsRecEqualsLibtorch) {
  Server server("fednewsrec", false);
  const Settings settings = sizes({{"word_size", "6"}, {"recent_clicks", "3"}});
  expect_equal_gradients(server, "fednewsrec", settings);
}

TEST(DeviceModels, FedNewsRecWithTrainedWordsEqualsLibtorch) {
  Server server("fednewsrec", true);
  const Settings settings = sizes({{"word_size", "6"},
                                   {"recent_clicks", "3"},
                                   {"train_words", "true"},
                                   {"vocabulary", std::to_string(testing::newsroom_words)}});
  expect_equal_gradients(server, "fednewsrec", settings);
}

// So large that items pass in several pieces.
TEST(DeviceModels, FedNewsRecOfThePapersSizeEqualsLibtorch) {
  model::NewsShape paper;
  paper.dropout = 0;
  Server server("fednewsrec", paper, 0.01);
  const Settings settings = {{"negatives", "3"}, {"max_history", "12"}, {"dropout", "0"}};
  expect_equal_gradients(server, "fednewsrec", settings, std::span(newsroom().data.users).first(2));
}

// NRMS behind a mixture of basis vectors. The weights of three basis vectors are longer than the bound of
// 0.6.
TEST(DeviceModels, PrivateRecEqualsLibtorch) {
  for (const bool train_words : {false, true}) {
    Server server("nrms", train_words);
    model::PrivateRecModel::Settings attention;
    attention.clip = 0.6;
    server.model = std::make_shared<model::PrivateRecModel>(
        std::dynamic_pointer_cast<model::NewsRecommender>(server.model), attention);
    server.finish();
    Settings settings = sizes({{"word_size", "6"}, {"basis_vectors", "3"}, {"weight_clip", "0.6"}});
    if (train_words) {
      settings.emplace_back("train_words", "true");
      settings.emplace_back("vocabulary", std::to_string(testing::newsroom_words));
    }
    expect_equal_gradients(server, "privaterec", settings);
  }
}

// What a device of Efficient-FedRec uploads: gradients of all vectors it was sent, then of the user model.
TEST(DeviceModels, SplitUserModelReturnsLibtorchsGradientsOfVectorsAndModel) {
  Server server("nrms", true);
  auto split = SplitTraining::create(*server.training, *server.model).value();
  std::vector<data::ItemId> catalogue(newsroom().dataset.item_count());
  std::iota(catalogue.begin(), catalogue.end(), 0);
  const Tensor vectors = split.infer(catalogue).contiguous(), encoder = split.user_encoder().clone();
  const auto trainer = local::find_trainer("efficient-fedrec", sizes()).value();
  const auto dimension = static_cast<std::int64_t>(split.dimension(catalogue.size()));
  ASSERT_EQ(trainer->dimension(catalogue.size(), 1), split.dimension(catalogue.size()));
  EXPECT_NE(server.parameters->layout().find(trainer->layout().text()), std::string::npos);
  const local::RoundInputs inputs{{encoder.data_ptr<float>(), static_cast<std::size_t>(encoder.numel())},
                                  {vectors.data_ptr<float>(), vectors.size(0), vectors.size(1)}};
  std::size_t seen = 0;
  Tensor expected = torch::empty({dimension});
  ASSERT_TRUE(split.devices(
      2, newsroom().data.users, catalogue, vectors, encoder,
      [&](data::UserId user, const DeviceGradients& own) -> Status {
        ++seen;
        write_device_update(own, catalogue, expected);
        local::OwnEvents events;
        std::int64_t latest = -1;
        for (const data::TrainingSample& sample : newsroom().data.of(user)) {
          if (sample.impression == latest) continue;
          latest = sample.impression;
          const data::Impression impression = newsroom().dataset.impression(sample.impression);
          events.impressions.push_back({impression.history, impression.shown, impression.clicked});
        }
        SeededRandom draws(11, Purpose::negative_sampling, 2, user);
        SOTTO_TRY(local::LocalUpdate device, trainer->train(inputs, events, draws, [] { return false; }));
        expect_same(torch::from_blob(device.direction.data(), {dimension}), expected);
        EXPECT_NEAR(device.loss, own.loss, 1e-5 * own.loss);
        EXPECT_EQ(device.samples, own.samples);
        return {};
      }));
  EXPECT_EQ(seen, newsroom().data.users.size());
}

}  // namespace
}  // namespace sotto::fl
