// The flagship's user model: what it starts as, and what its numbers do.

#include <gtest/gtest.h>

#include <cmath>

#include "model/news/news_models.h"
#include "model/news/news_recommender.h"
#include "model/news/word_space.h"

namespace sotto::model {
namespace {

using torch::Tensor;

struct Model {
  Model() {
    features = std::make_shared<ItemFeatures>();
    features->titles.tokens = {2, 3, 4, 3, 5, 2, 4, 5};
    features->titles.offsets = {0, 2, 4, 6, 8, 8};  // the last item has no words
    torch::manual_seed(4);
    table = torch::randn({6, 4});
    table.select(1, 3).abs_();  // how much a word says
    ModelInputs inputs;
    inputs.words = table;
    inputs.items = features;
    made = std::dynamic_pointer_cast<NewsRecommender>(make_catalogue_model(inputs));
    vectors = WordSpace(table).vectors_of(*features);
  }
  Tensor reader(const std::vector<std::int64_t>& clicks) {
    Histories histories;
    histories.add(clicks);
    Pass pass = Pass::evaluation();
    return made->encode_users(vectors, histories, pass)[0].detach();
  }
  Tensor parameter(const std::string& name) { return made->named_parameters()[name]; }
  std::shared_ptr<ItemFeatures> features;
  Tensor table, vectors;
  std::shared_ptr<NewsRecommender> made;
};

TEST(CatalogueModel, ReadsItemsAsTheWordSpaceGivesThem) {
  Model model;
  Pass pass = Pass::evaluation();
  const std::vector<data::ItemId> items = {2, 0, 4};
  const Tensor encoded = model.made->encode_items(items, pass);
  EXPECT_TRUE(torch::equal(encoded[0], model.vectors[2]));
  EXPECT_EQ(encoded[2].abs().sum().item<float>(), 0);
  EXPECT_EQ(model.made->parameters().size(), 4U) << "item vectors are not trained";
}

TEST(CatalogueModel, ReadsArticlesThatTakeTheItemsPlace) {
  Model model;
  ItemFeatures later;
  later.titles.tokens = {5, 4, 3};
  later.titles.offsets = {0, 3};
  const Tensor expected = WordSpace(model.table).vectors_of(later)[0];
  *model.features = later;
  Pass pass = Pass::evaluation();
  const std::vector<data::ItemId> items = {0};
  EXPECT_TRUE(torch::equal(model.made->encode_items(items, pass)[0], expected));
}

TEST(CatalogueModel, StartsAsTheMeanOfTheClicksShrunkByHowFewTheyAre) {
  Model model;
  const Tensor mean = (model.vectors[0] + model.vectors[1] + model.vectors[3]) / 3;
  EXPECT_TRUE(torch::allclose(model.reader({0, 1, 3}), 12 * mean * (3.0 / (3 + 3)), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(model.reader({2}), 12 * model.vectors[2] / 4, 1e-4, 1e-5));
}

TEST(CatalogueModel, WithoutClicksIsTheAverageReader) {
  Model model;
  const torch::NoGradGuard no_grad;
  model.parameter("average").fill_(0.25);
  EXPECT_TRUE(torch::allclose(model.reader({}), torch::full({3}, 0.25)));
}

TEST(CatalogueModel, ScalesDimensionsAndWeighsClicks) {
  Model model;
  const torch::NoGradGuard no_grad;
  model.parameter("scale")[0][1] = std::log(5.0);
  model.parameter("query").copy_(torch::tensor({1.0F, -2.0F, 0.5F}));
  const Tensor clicks = torch::stack({model.vectors[0], model.vectors[2]});
  const Tensor weights = clicks.mv(model.parameter("query")).softmax(0);
  const Tensor scales = torch::tensor({12.0F, 5.0F, 12.0F});
  const Tensor expected = scales * (weights.unsqueeze(1) * clicks).sum(0) * (2.0 / 5);
  EXPECT_TRUE(torch::allclose(model.reader({0, 2}), expected, 1e-4, 1e-5));
}

}  // namespace
}  // namespace sotto::model
