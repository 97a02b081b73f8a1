// What holds for every news model, and what is particular to single ones.

#include "model/finite_differences.h"
#include "model/flat_parameters.h"
#include "model/small_news.h"

namespace sotto::model {
namespace {

using testing::narrow_shape;
using testing::small_inputs;
using testing::small_model;
using testing::SmallRequest;
using torch::Tensor;

Tensor scores_of(RankingModel& model, const ScoreRequest& request) {
  Pass pass;
  return model.scores(request, pass);
}

class EveryModel : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryModel, ScoresABatchAsItScoresOnePairAtATime) {
  const auto model = small_model(GetParam());
  const SmallRequest all;
  const Tensor together = scores_of(*model, all.request());
  ASSERT_EQ(together.sizes(), torch::IntArrayRef({16}));
  for (std::size_t p = 0; p < all.pair_item.size(); ++p) {
    const auto u = static_cast<std::size_t>(all.pair_history[p]);
    // Only the items this pair needs, in an order of their own.
    std::vector<data::ItemId> items = {all.items[static_cast<std::size_t>(all.pair_item[p])]};
    std::vector<std::int64_t> history;
    for (auto i = all.histories.offsets[u]; i < all.histories.offsets[u + 1]; ++i) {
      const data::ItemId item =
          all.items[static_cast<std::size_t>(all.histories.rows[static_cast<std::size_t>(i)])];
      if (item == items[0]) {
        history.push_back(0);
      } else {
        history.push_back(static_cast<std::int64_t>(items.size()));
        items.push_back(item);
      }
    }
    Histories one;
    one.add(history, all.histories.users[u]);
    const std::vector<std::int64_t> first = {0};
    EXPECT_NEAR(scores_of(*model, {items, one, first, first}).item<float>(),
                together[static_cast<std::int64_t>(p)].item<float>(), 1e-5)
        << "pair " << p;
  }
}

TEST_P(EveryModel, IsFiniteForEmptyHistoriesAndItemsWithoutFeatures) {
  EXPECT_TRUE(
      torch::isfinite(scores_of(*small_model(GetParam()), SmallRequest().request())).all().item<bool>());
  // Nothing but the item without any feature, in a batch without a single word.
  const std::vector<data::ItemId> items = {5};
  Histories histories;
  histories.add(std::vector<std::int64_t>{0});
  histories.add({});
  const std::vector<std::int64_t> pair_history = {0, 1}, pair_item = {0, 0};
  const auto model = small_model(GetParam());
  FlatParameters flat(*model);
  Pass pass = Pass::train(1, 1);
  const Tensor scores = model->scores({items, histories, pair_history, pair_item}, pass);
  EXPECT_TRUE(torch::isfinite(scores).all().item<bool>());
  scores.sum().backward();
  EXPECT_TRUE(torch::isfinite(flat.gradients()).all().item<bool>());
}

TEST_P(EveryModel, LossMatchesFiniteDifferences) {
  const auto model = small_model(GetParam(), torch::kFloat64);
  const std::vector<data::ItemId> history = {0, 3, 1}, other = {4, 3, 0}, none = {};
  RankingBatch batch(3, 50);
  batch.add(history, std::vector<data::ItemId>{4, 1, 2}, 1, 1);
  batch.add(other, std::vector<data::ItemId>{0, 3, 5}, 1, 4);
  batch.add(none, std::vector<data::ItemId>{3, 0, 4}, 2);
  std::vector<Tensor> trained;
  for (const auto& parameter : model->parameters())
    if (parameter.requires_grad()) trained.push_back(parameter);
  testing::expect_gradients_match(
      [&] {
        Pass pass;
        return batch.loss(*model, pass);
      },
      trained, 1e-5);
}

TEST_P(EveryModel, DropoutIsAFunctionOfTheSeed) {
  NewsShape shape = narrow_shape();
  shape.dropout = 0.5, shape.user_mask = 0.5, shape.word_mask = 0.5;
  const auto model = small_model(GetParam(), torch::kFloat32, shape);
  const auto trained = [&](std::uint32_t round) {
    Pass pass = Pass::train(3, round);
    return model->scores(SmallRequest().request(), pass).detach();
  };
  EXPECT_TRUE(trained(1).equal(trained(1)));
  // Few readers can be masked alike in two rounds, not in ten.
  int alike = 0;
  for (std::uint32_t round = 2; round <= 10; ++round) alike += trained(1).equal(trained(round)) ? 1 : 0;
  const ModelEntry& entry = *find_model(GetParam()).value();
  if (entry.reads_setting("dropout") || entry.user_ids()) {
    EXPECT_LT(alike, 9);
  } else {
    EXPECT_EQ(alike, 9) << "nothing in it is dropped";
  }
}

TEST_P(EveryModel, RegistryTellsWhatItReads) {
  const ModelEntry& entry = *find_model(GetParam()).value();
  const auto model = small_model(GetParam());
  EXPECT_EQ(entry.two_towers, dynamic_cast<NewsRecommender*>(model.get()) != nullptr);
  EXPECT_EQ(entry.user_ids(), entry.reads_setting("user_mask"));

  const SmallRequest request;
  const auto of_user = [&](data::UserId user) {
    SmallRequest same = request;
    for (data::UserId& id : same.histories.users) id = user;
    return scores_of(*model, same.request());
  };
  EXPECT_EQ(entry.user_ids(), !of_user(1).equal(of_user(4)));
  EXPECT_TRUE(of_user(77).equal(of_user(unknown_user))) << "users who did not train share one row";
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, ::testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const auto& entry : models()) names.push_back(entry.name);
                           return names;
                         }()),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(ModelRegistry, UnknownModelNamesTheNearest) {
  const auto found = find_model("nmrs");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("nrms"), std::string::npos) << found.error().message;
}

TEST(ModelRegistry, SettingsAreReadAsWholeWords) {
  const ModelEntry& fm = *find_model("fm").value();
  EXPECT_TRUE(fm.reads_setting("word_size"));
  EXPECT_TRUE(fm.reads_setting("train_words"));
  EXPECT_FALSE(fm.reads_setting("word"));
  EXPECT_FALSE(fm.reads_setting("pooling_size"));
}

std::int64_t trainable(std::string_view name) {
  NewsShape shape;  // the papers' sizes, frozen words
  auto model = find_model(name).value()->make(
      {shape, torch::zeros({10, shape.word_size}), testing::small_items(), KnownUsers{{1, 4}}});
  std::int64_t count = 0;
  for (const auto& parameter : model->parameters())
    if (parameter.requires_grad()) count += parameter.numel();
  return count;
}

TEST(NewsModels, HaveThePapersSizesWithFrozenWords) {
  constexpr std::int64_t pooling = 400 * 200 + 200 + 200, text_cnn = 900 * 400 + 400 + pooling,
                         codes = (2 + 3) * 100;
  EXPECT_EQ(trainable("fednewsrec"), 2'522'800);
  // The user model alone: the 560,400 numbers Efficient-FedRec sends.
  EXPECT_EQ(trainable("nrms"), (300 * 1200 + pooling) + 560'400);
  EXPECT_EQ(trainable("naml"), 2 * text_cnn + codes + 2 * (100 * 400 + 400) + 2 * pooling);
  EXPECT_EQ(trainable("lstur"), text_cnn + codes + 3 * (600 * 600 + 600 * 600 + 600) + 3 * 600);
  EXPECT_EQ(trainable("npa"), 900 * 400 + 400 + 3 * 50 + 2 * (50 * 200 + 200 + 200 * 400 + 400));
  EXPECT_EQ(trainable("ebnr"), 300 * 400 + 400 + 3 * (400 * 400 + 400 * 400 + 400));
}

// x W + b.
constexpr std::int64_t dense(std::int64_t in, std::int64_t out) { return in * out + out; }

TEST(NewsModels, ThatScorePairsHaveThePapersSizesWithFrozenWords) {
  constexpr std::int64_t attention = dense(400, 200) + dense(400, 200) + 200,
                         entity = 3;  // size of an entity vector of small_items()
  // 400 filters over windows of 1, 2 and 3 words: 134, 133, 133; 200 filters: 67, 67, 66.
  EXPECT_EQ(trainable("dkn"), dense(entity, 300) + (dense(600, 134) + dense(1200, 133) + dense(1800, 133)) +
                                  attention + dense(800, 200) + dense(200, 1));
  EXPECT_EQ(trainable("dan"), (dense(300, 67) + dense(600, 67) + dense(900, 66)) +
                                  (dense(entity, 67) + dense(2 * entity, 67) + dense(3 * entity, 66)) +
                                  4 * (400 * 400 + dense(400, 400)) + 2 * attention + dense(800, 400));
  constexpr std::int64_t item = 300 + 2 * 100, own = 3 * 50;
  EXPECT_EQ(trainable("dfm"), (2 + 3) * 100 + own + (2 * dense(item, 200) + 200) +
                                  (3 * dense(50 + 3 * item, 400) + 3 * dense(400, 400)) +
                                  (3 * dense(3 * 400, 400) + 3 * dense(400, 400)) + (dense(400, 200) + 200) +
                                  dense(400, 1));
  constexpr std::int64_t words = 10, codes = 2 + 3;
  EXPECT_EQ(trainable("fm"), words + codes * (300 + 1) + codes * 300 + 3 * 300);
}

TEST(Naml, IgnoresTheViewsAnItemDoesNotHave) {
  const auto model = std::dynamic_pointer_cast<NewsRecommender>(small_model("naml"));
  Pass pass;
  const std::vector<data::ItemId> items = {5, 2};
  const Tensor vectors = model->encode_items(items, pass);
  EXPECT_TRUE(vectors[0].eq(0).all().item<bool>()) << "no view at all";
  // Item 2 has nothing but its codes: words cannot change it.
  torch::NoGradGuard no_grad;
  model->named_parameters()["words"].add_(1);
  EXPECT_TRUE(model->encode_items(items, pass)[1].equal(vectors[1]));
  model->named_parameters()["codes.categories"].add_(1);
  EXPECT_FALSE(model->encode_items(items, pass)[1].equal(vectors[1]));
}

TEST(Lstur, OwnVectorStartsTheGruOrStandsBesideIt) {
  NewsShape shape = narrow_shape();
  const SmallRequest request;
  const std::int64_t size = shape.filters + 2 * shape.category_size;
  for (const char* start : {"ini", "con"}) {
    shape.user_start = start;
    const auto model =
        std::dynamic_pointer_cast<NewsRecommender>(small_model("lstur", torch::kFloat32, shape));
    Pass pass;
    const Tensor users =
        model->encode_users(model->encode_items(request.items, pass), request.histories, pass);
    const Tensor own = model->named_parameters()["own.table"];
    ASSERT_EQ(users.size(1), size);
    EXPECT_EQ(own.size(1), shape.user_start == "ini" ? size : size - size / 2);
    if (shape.user_start == "con") {
      EXPECT_TRUE(users[0].slice(0, size / 2).equal(own[0]));
    }
  }
}

TEST(Ebnr, ItemWithoutWordsIsTheZeroVector) {
  const auto model = std::dynamic_pointer_cast<NewsRecommender>(small_model("ebnr"));
  Pass pass;
  const std::vector<data::ItemId> items = {5, 0};
  const Tensor vectors = model->encode_items(items, pass);
  EXPECT_TRUE(vectors[0].eq(0).all().item<bool>());
  EXPECT_FALSE(vectors[1].eq(0).all().item<bool>());
}

// A feature of the factorisation machine: value, weight, factors.
struct Feature {
  double value, weight;
  Tensor factors;
};

TEST(Fm, EqualsTheTextbookSumOverPairsOfFeatures) {
  const auto model = small_model("fm", torch::kFloat64);
  auto named = model->named_parameters();
  const auto items = testing::small_items();
  const auto describe = [&](data::ItemId item, const char* words, const char* codes, double scale,
                            std::vector<Feature>& features) {
    const bool candidate = std::string(words) == "words";
    const auto title = items->titles.of(item);
    for (const std::int32_t word : title)
      features.push_back({scale / static_cast<double>(title.size()),
                          candidate ? named["word_weights"][word].item<double>() : 0, named[words][word]});
    const std::pair<const char*, std::int32_t> kinds[] = {{".categories", items->categories[item]},
                                                          {".subcategories", items->subcategories[item]}};
    for (const auto& [kind, code] : kinds)
      if (code != 0) {
        const Tensor row = named[std::string(codes) + kind][code - 1];
        features.push_back({scale, candidate ? row[4].item<double>() : 0, row.slice(0, 0, 4)});
      }
  };
  const auto score = [&](data::ItemId candidate) {
    std::vector<Feature> features = {{1, 0, named["own.table"][0]}};
    for (const data::ItemId click : {0, 3, 1})
      describe(click, "clicked_words", "clicked_codes", 1.0 / 3, features);
    describe(candidate, "words", "codes", 1, features);
    double sum = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
      sum += features[i].weight * features[i].value;
      for (std::size_t j = i + 1; j < features.size(); ++j)
        sum += features[i].value * features[j].value *
               features[i].factors.dot(features[j].factors).item<double>();
    }
    return sum;
  };
  const Tensor scores = scores_of(*model, SmallRequest().request());  // history 0: items 5, 0, 2, 3
  // Terms of the reader alone are left out of the model: differences are what counts.
  EXPECT_NEAR((scores[1] - scores[0]).item<double>(), score(0) - score(5), 1e-9);
  EXPECT_NEAR((scores[2] - scores[0]).item<double>(), score(2) - score(5), 1e-9);
  EXPECT_NEAR((scores[3] - scores[0]).item<double>(), score(3) - score(5), 1e-9);
}

TEST(Entities, AreLearnedWhereTheDataHasNoVectors) {
  for (const char* name : {"dkn", "dan"}) {
    EXPECT_FALSE(small_model(name)->named_parameters()["entities"].requires_grad());
    ModelInputs inputs = small_inputs();
    auto items = testing::small_items();
    items->entity_vectors = Tensor();
    inputs.items = items;
    const auto model = find_model(name).value()->make(inputs);
    const Tensor entities = model->named_parameters()["entities"];
    EXPECT_TRUE(entities.requires_grad());
    scores_of(*model, SmallRequest().request()).sum().backward();
    EXPECT_GT(entities.grad().abs().sum().item<double>(), 0) << name;
  }
}

}  // namespace
}  // namespace sotto::model
