// Runs without a news model as they are served: items by their ids, devices that rank by public vectors.

#ifdef SOTTO_HAVE_NET

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/written_view.h"
#include "device/pack/device_pack.h"
#include "eval/interaction_evaluator.h"
#include "eval/served_ranking.h"
#include "fl/factorisation_training.h"
#include "fl/run_log.h"
#include "fl/tiny_interactions.h"
#include "local/vector_ranking.h"
#include "model/flat_parameters.h"
#include "model/interactions/item_vectors.h"
#include "publish/factor_ranking.h"
#include "recipes/stored_run.h"
#include "trainer/run_server.h"

namespace sotto::publish {
namespace {

using ::testing::HasSubstr;

class ServedFactors : public ::testing::Test {
 protected:
  void train(const std::string& recipe, std::vector<std::string> assignments, double epsilon = 0) {
    eval::TrainJob job;
    job.recipe = recipe;
    job.data = data.path();
    job.out = folder / recipe;
    job.reproducible = true;
    if (recipe != "dp-svd") job.rounds = 4;
    if (epsilon > 0) assignments.push_back(fmt::format("epsilon={}", epsilon));
    job.assignments = std::move(assignments);
    const auto trained = eval::train_run(job, dataset, {});
    ASSERT_TRUE(trained) << trained.error().message;
  }
  // Items from best to worst by the device's user vector.
  std::vector<data::ItemId> ranking(const ServedRun& served, const std::vector<data::ItemId>& history) const {
    std::vector<serving::CatalogueItem> articles(dataset.item_count());
    for (std::size_t i = 0; i < articles.size(); ++i) articles[i].id = dataset.catalogue().ids[i];
    const auto vectors = served.encoder->encode(articles).value();
    std::vector<float> clicks;
    for (const data::ItemId item : history)
      clicks.insert(clicks.end(), vectors[item].begin(), vectors[item].end());
    const auto user = device::make_user_model(served.pack).value().encode(clicks);
    std::vector<double> scores;
    for (const auto& vector : vectors) scores.push_back(dot(vector, user));
    return best_first(scores);
  }
  template <class Scores>
  static std::vector<data::ItemId> best_first(const Scores& scores) {
    std::vector<data::ItemId> order(scores.size());
    std::iota(order.begin(), order.end(), data::ItemId{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](data::ItemId a, data::ItemId b) { return scores[a] > scores[b]; });
    return order;
  }

  // What fcf trained: the factors of the items, as they are without a pack.
  torch::Tensor fcf_items(const fs::path& run, const fl::FactorisationSettings& settings) const {
    fl::FactorModel model(static_cast<std::int64_t>(dataset.item_count()), settings);
    const torch::NoGradGuard no_grad;
    model::FlatParameters parameters(model);
    parameters.values().copy_(
        fl::load_checkpoint(run / "best.sotto", parameters.layout()).value().parameters);
    return model.factors.detach().clone();
  }
  // (YᵀY + λ) x = Σ y over a user's items, with items as a pack carries them: the longest has length 1, which
  // divides λ by the square of what it had. Nothing is left to a tolerance.
  metrics::HeldOutReport first_order_of_fcf(const fs::path& run,
                                            const fl::FactorisationSettings& settings) const {
    const double longest = fcf_items(run, settings).norm(2, {1}).max().item<double>();
    const auto factors = recipes::open_factors_run(run, dataset).value().value();
    const auto items = static_cast<std::uint32_t>(dataset.item_count());
    const auto size = static_cast<std::uint32_t>(factors.size);
    const std::vector<float> carried =
        device::PackTensor::from_floats("items", {items, size}, factors.items, device::NumberForm::i8)
            .value()
            .floats();
    const auto rows = [&](const std::vector<float>& numbers) {
      return torch::tensor(at::ArrayRef<float>(numbers.data(), numbers.size())).view({items, size});
    };
    const torch::Tensor trained = rows(factors.items), seen = rows(carried);
    const torch::Tensor penalty = torch::eye(size) * (settings.regularisation / (longest * longest));
    const torch::Tensor shared = torch::mm(trained.t(), trained) + penalty;
    const fl::InteractionData data = fl::prepare_interactions(dataset, {}, 1).value();
    return eval::evaluate_interactions(dataset, data, [&](const fl::TakeScores& take) {
      for (std::size_t user = 0; user < data.test.size(); ++user) {
        torch::Tensor sum = torch::zeros({size, 1});
        for (const std::uint64_t row : data.test[user].support.positive)
          sum += seen[static_cast<std::int64_t>(dataset.interactions().items[row])].unsqueeze(1);
        const torch::Tensor scores = torch::mm(seen, torch::linalg_solve(shared, sum)).contiguous();
        take(user, data.test[user].query, scores.data_ptr<float>());
      }
    });
  }

  const TempFolder data, folder;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const std::vector<std::string> small = {"cohort=12", "embedding=6", "hidden=6", "layers=2"};
};

TEST_F(ServedFactors, ADeviceRanksByDpSvdAsItsRecipeDoes) {
  train("dp-svd", {"noise=none", "items=12"});
  const auto served = open_served_run(folder / "dp-svd", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  ASSERT_TRUE(device::check(served->pack));
  EXPECT_EQ(served->pack.user_model.kind, "sum");

  model::ItemVectors model(static_cast<std::int64_t>(dataset.item_count()), 64);
  model::FlatParameters parameters(model);
  const auto last = fl::load_checkpoint(folder / "dp-svd" / "best.sotto", parameters.layout()).value();
  {
    torch::NoGradGuard no_grad;
    parameters.values().copy_(last.parameters);
  }
  const double users = static_cast<double>(fl::prepare_interactions(dataset, {}, 1).value().users.size());
  const auto values_of = [](const torch::Tensor& tensor) {
    return std::span(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  };
  const local::VectorRanking reference(values_of(model.counts), values_of(model.vectors),
                                       {.popularity = 8 / std::sqrt(users), .rare = 0.35});
  for (const std::vector<data::ItemId>& history :
       std::vector<std::vector<data::ItemId>>{{}, {3}, {0, 2, 4}, {1, 0, 9, 8, 7}})
    EXPECT_EQ(ranking(*served, history), best_first(reference.scores(history))) << history.size();
}

TEST_F(ServedFactors, APrivateRunIsServedToDevicesInAllModesWithWhatHolds) {
  train("dp-svd", {"items=12"}, 8);
  trainer::testing::RunServer server(folder.path(), folder / "dp-svd");
  EXPECT_EQ(server.items(), dataset.item_count());
  server.expect_all_modes_agree({"M0", "M2"});
}

TEST_F(ServedFactors, AnItemThatWasNotThereInTrainingStandsLast) {
  train("dp-svd", {"noise=none", "items=12"});
  trainer::testing::RunServer server(folder.path(), folder / "dp-svd");
  const auto put =
      server.put({{"id", "late"}, {"title", "Red Fire"}, {"published", trainer::testing::serving_now}});
  ASSERT_EQ(put.status, 200) << put.body;
  const auto scores = server.scores({{"prototypes", {0}}}, 20);
  ASSERT_EQ(scores.size(), dataset.item_count() + 1);
  for (const auto& [item, score] : scores) EXPECT_LE(scores.at("late"), score) << item;
}

TEST_F(ServedFactors, PrivRecIsServedByItsFirstOrder) {
  train("privrec", small);
  const auto served = open_served_run(folder / "privrec", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  ASSERT_TRUE(device::check(served->pack));
  EXPECT_EQ(served->pack.dimension, 13U) << "what a click says, what ranks an item, and its bias";
  // Even items are liked together.
  const auto warm = ranking(*served, {0, 2, 4, 6});
  double warm_first = 0;
  for (std::size_t place = 0; place < 6; ++place) warm_first += warm[place] % 2 == 0 ? 1 : 0;
  EXPECT_GE(warm_first, 4);
  trainer::testing::RunServer server(folder.path(), folder / "privrec");
  server.expect_all_modes_agree({"M0", "M2"});
}

TEST_F(ServedFactors, DpPrivRecIsServedWithItsBudget) {
  auto assignments = small;
  assignments.emplace_back("labels=sampled");
  train("dp-privrec", assignments, 1000);
  const auto served = open_served_run(folder / "dp-privrec", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  ASSERT_TRUE(device::check(served->pack));
  EXPECT_EQ(served->pack.dimension, 13U);
  trainer::testing::RunServer server(folder.path(), folder / "dp-privrec");
  server.expect_all_modes_agree({"M0", "M2"});
}

TEST_F(ServedFactors, EvalRanksAsADeviceIsServed) {
  train("dp-svd", {"noise=none", "items=12"});
  const auto served = open_served_run(folder / "dp-svd", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  const auto factors = recipes::open_factors_run(folder / "dp-svd", dataset);
  ASSERT_TRUE(factors && *factors);
  const auto by_vectors = FactorRanking::create(**factors).value();
  // Eight bits per number: the order of the best may turn where scores are nearly equal.
  for (const std::vector<data::ItemId>& history :
       std::vector<std::vector<data::ItemId>>{{3}, {0, 2, 4}, {1, 0, 9, 8, 7}}) {
    const auto device = ranking(*served, history), here = best_first(by_vectors.scores(history));
    EXPECT_TRUE(std::find(device.begin(), device.begin() + 3, here.front()) != device.begin() + 3);
  }
}

TEST_F(ServedFactors, EvalSaysWhatServingToFirstOrderCosts) {
  train("dp-svd", {"noise=none", "items=12"});
  const auto exact = eval::evaluate_as_served({.run = folder / "dp-svd"}, dataset);
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_NEAR(exact->served.hits[1], exact->own.mean.hits[1], 0.03) << "dp-svd is served as it is";
  train("privrec", small);
  const auto linear = eval::evaluate_as_served({.run = folder / "privrec"}, dataset);
  ASSERT_TRUE(linear) << linear.error().message;
  const auto own = std::get<metrics::HeldOutReport>(eval::evaluate_run(folder / "privrec", dataset).value());
  EXPECT_EQ(linear->own.mean.hits[1], own.mean.hits[1]) << "the model beside it is the one that is tested";
  EXPECT_NEAR(linear->difference.hits[1], linear->served.hits[1] - own.mean.hits[1], 1e-12);
  EXPECT_GT(linear->served.ndcg[3], own.beside[2].metrics.ndcg[3]) << "better than random order";
  train("fcf", {"cohort=12", "factors=4"});
  const auto solved = eval::evaluate_as_served({.run = folder / "fcf"}, dataset);
  ASSERT_TRUE(solved) << solved.error().message;
  fl::FactorisationSettings settings;
  settings.factors = 4;
  const metrics::HeldOutReport expected = first_order_of_fcf(folder / "fcf", settings);
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
    EXPECT_NEAR(solved->served.hits[c], expected.mean.hits[c], 1e-12) << metrics::HeldOutMetrics::cutoffs[c];
    EXPECT_NEAR(solved->served.ndcg[c], expected.mean.ndcg[c], 1e-12) << metrics::HeldOutMetrics::cutoffs[c];
  }
}

TEST_F(ServedFactors, ADeviceRanksByFcfExactlyAfterOneClickAndWithEqualWeightsAfterMany) {
  const std::int64_t factors = 4;
  train("fcf", {"cohort=12", fmt::format("factors={}", factors), "learning_rate=0.05"});
  const auto served = open_served_run(folder / "fcf", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  ASSERT_TRUE(device::check(served->pack));
  EXPECT_EQ(served->pack.user_model.kind, "sum");

  fl::FactorisationSettings settings;
  settings.factors = factors;
  const torch::Tensor items = fcf_items(folder / "fcf", settings);
  const torch::Tensor shared = torch::mm(items.t(), items) + settings.regularisation * torch::eye(factors);
  const auto trained_reader = [&](const std::vector<data::ItemId>& history) {
    const fl::OwnItems own = fl::each_once({history.begin(), history.end()});
    return fl::solve_users(items, {&own, 1}, settings)[0];
  };
  const auto ranked_by = [&](const torch::Tensor& reader) {
    const torch::Tensor scores = torch::mv(items, reader).contiguous();
    return best_first(
        std::vector<double>(scores.data_ptr<float>(), scores.data_ptr<float>() + scores.numel()));
  };
  for (data::ItemId item = 0; item < dataset.item_count(); ++item)
    EXPECT_EQ(ranking(*served, {item}), ranked_by(trained_reader({item}))) << item;
  for (const std::vector<data::ItemId>& history :
       std::vector<std::vector<data::ItemId>>{{0, 2, 4}, {1, 3, 5, 7}, {0, 2, 4, 6, 8}}) {
    const auto clicks = static_cast<std::int64_t>(history.size());
    const torch::Tensor own = items.index_select(
        0, torch::tensor(std::vector<std::int64_t>(history.begin(), history.end()), torch::kInt64));
    const torch::Tensor each = torch::linalg_solve(shared, own.t());  // what one click makes of a reader
    EXPECT_EQ(ranking(*served, history), ranked_by(each.sum(1)));
    // What is left out is this and nothing else: the trained reader is the same sum with the weights
    // (1 + w)(1 + wG)⁻¹ 1 of the clicks (Woodbury), G what they say of one another.
    const double weight = settings.confidence;
    const torch::Tensor weights =
        (1 + weight) *
        torch::linalg_solve(torch::eye(clicks) + weight * torch::mm(own, each), torch::ones({clicks, 1}))
            .squeeze(1);
    EXPECT_TRUE(torch::allclose(torch::mv(each, weights), trained_reader(history), 1e-4, 1e-5));
    // G has eigenvalues from 0 to 1, so that by Kantorovich's inequality the weights are this near to equal
    // ones, whatever was learned.
    EXPECT_GE((weights.sum() / weights.norm()).item<double>() / std::sqrt(static_cast<double>(clicks)),
              2 * std::sqrt(1 + weight) / (2 + weight));
  }
  trainer::testing::RunServer server(folder.path(), folder / "fcf");
  server.expect_all_modes_agree({"M0", "M2"});
  const auto put =
      server.put({{"id", "late"}, {"title", "Red Fire"}, {"published", trainer::testing::serving_now}});
  ASSERT_EQ(put.status, 200) << put.body;
  const auto scores = server.scores({{"prototypes", {0}}}, 20);
  ASSERT_EQ(scores.size(), dataset.item_count() + 1);
  for (const auto& [item, score] : scores) EXPECT_LE(scores.at("late"), score) << item;
}

TEST_F(ServedFactors, FcfOnImpressionsIsServedAndItsRankingIsNotCompared) {
  data::ImpressionViewOptions options;
  options.negatives = 4;
  options.test_share = 0.3;
  ASSERT_TRUE(data::write_impression_view(dataset, options, folder / "view"));
  const auto impressions = data::Dataset::open(folder / "view").value();
  eval::TrainJob job;
  job.recipe = "fcf";
  job.data = folder / "view";
  job.out = folder / "run";
  job.rounds = 2;
  job.assignments = {"cohort=12", "factors=4"};
  ASSERT_TRUE(eval::train_run(job, impressions, {}));
  const auto served = open_served_run(folder / "run", impressions, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_TRUE(device::check(served->pack));
  const auto refused = eval::evaluate_as_served({.run = folder / "run"}, impressions);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("impressions alone"));
}

TEST_F(ServedFactors, WhatNoPackCarriesIsRefusedWithWhatToTrainAtEqualPrivacy) {
  auto assignments = small;
  assignments.insert(assignments.end(), {"inputs=paper", "labels=ratings"});
  train("privrec", assignments);
  const auto features = open_served_run(folder / "privrec", dataset, {});
  ASSERT_FALSE(features);
  EXPECT_THAT(features.error().message, HasSubstr("inputs=paper"));
  EXPECT_THAT(features.error().message, HasSubstr("dp-svd at the same epsilon"));
}

}  // namespace
}  // namespace sotto::publish

#endif
