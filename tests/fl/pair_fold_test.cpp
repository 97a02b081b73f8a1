// Two rounds set counts and vectors; the noise in them is the plan's.

#include "fl/pair_fold.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"
#include "data/dataset_builder.h"
#include "fl/simulated_rounds.h"
#include "fl/tiny_interactions.h"
#include "local/item_sums.h"
#include "model/flat_parameters.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

secagg::EncodingPlan plan_of(std::uint64_t dimension, std::uint64_t users, double noise_multiplier,
                             bool products = false) {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = dimension;
  settings.clip = 1;
  (products ? settings.products : settings.nonnegative) = true;
  settings.denominator = static_cast<double>(users);
  settings.devices = users;
  settings.dropped = users / 10;
  settings.corrupted = users / 10;
  settings.noise_multiplier = noise_multiplier;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = secagg::finest_step(settings, 28).value();
  return secagg::EncodingPlan::create(settings).value();
}

struct PairRounds {
  PairRounds(const data::Dataset& dataset, const InteractionData& data, const model::ItemVectors& model,
             PairPlans plans, std::uint64_t seed, const TasteSettings& settings)
      : fold(dataset, data, model, std::move(plans), settings),
        gather({{CohortSampler::create(data.users, static_cast<std::int64_t>(data.users.size()), 1).value(),
                 every_round},
                fold,
                privacy::NoiseOrigin::reproducible(seed)}) {}
  Result<RoundUpdate> round(std::uint32_t number) { return rounds.round(number); }
  PairFold fold;
  SimulatedGather gather;
  CohortRounds rounds{fold, gather};
};

struct TinyPairs {
  explicit TinyPairs(data::Dataset set, std::uint64_t chosen_items)
      : dataset(std::move(set)),
        data(prepare_interactions(dataset, {}, 1).value()),
        chosen(chosen_items),
        model(static_cast<std::int64_t>(dataset.item_count()), 5),
        parameters(model) {}
  PairRounds source(double noise_multiplier, const TasteSettings& settings = {.low = 0, .vectors = 5}) {
    const std::uint64_t users = data.users.size();
    return {dataset,
            data,
            model,
            {plan_of(dataset.item_count(), users, noise_multiplier),
             plan_of(local::pair_count(chosen), users, noise_multiplier, true), chosen},
            3,
            settings};
  }
  void step(PairRounds& source, std::uint32_t round) {
    const torch::NoGradGuard no_grad;
    parameters.values().sub_(source.round(round).value().direction);
  }
  // The mean of x / ‖x‖ over the training users, in the plainest way.
  Tensor exact_counts() const {
    Tensor mean = torch::zeros({static_cast<std::int64_t>(dataset.item_count())}, torch::kFloat64);
    for (const auto& user : data.rows) {
      Tensor x = torch::zeros_like(mean);
      for (const std::uint64_t row : user.positive)
        x[static_cast<std::int64_t>(dataset.interactions().items[row])] = 1;
      mean += x / x.norm() / static_cast<double>(data.users.size());
    }
    return mean;
  }
  data::Dataset dataset;
  InteractionData data;
  std::uint64_t chosen;
  model::ItemVectors model;
  model::FlatParameters parameters;
};

TEST(PairFold, WithoutNoiseCountsAreExactAndTheMostCountedItemsGetVectors) {
  const TempFolder folder;
  TinyPairs tiny(testing::tiny_ratings(folder, 60), 8);
  PairRounds source = tiny.source(0);
  tiny.step(source, 0);
  const Tensor counts = tiny.model.counts.detach().clone();
  EXPECT_LT((counts.to(torch::kFloat64) - tiny.exact_counts()).abs().max().item<double>(), 1e-4);
  EXPECT_EQ(tiny.model.vectors.abs().max().item<double>(), 0);
  tiny.step(source, 1);
  EXPECT_TRUE(torch::equal(tiny.model.counts, counts)) << "the second round leaves the counts alone";
  const Tensor has_vector = tiny.model.vectors.ne(0).any(1);
  EXPECT_EQ(has_vector.sum().item<std::int64_t>(), 8);
  const double least = counts.masked_select(has_vector).min().item<double>();
  EXPECT_LE(counts.masked_select(~has_vector).max().item<double>(), least);
}

TEST(PairFold, LowRatedRowsCountWithTheirWeight) {
  const TempFolder folder;
  TinyPairs tiny(testing::tiny_ratings(folder, 60), 8);
  PairRounds source = tiny.source(0, {.low = 0.7, .vectors = 5});
  tiny.step(source, 0);
  Tensor mean = torch::zeros({12}, torch::kFloat64);
  for (const auto& user : tiny.data.rows) {
    Tensor x = torch::zeros_like(mean);
    for (const auto* rows : {&user.negative, &user.positive})
      for (const std::uint64_t row : *rows)
        x[static_cast<std::int64_t>(tiny.dataset.interactions().items[row])] =
            rows == &user.positive ? 1 : 0.7;
    mean += x / x.norm() / static_cast<double>(tiny.data.users.size());
  }
  EXPECT_LT((tiny.model.counts.to(torch::kFloat64) - mean).abs().max().item<double>(), 1e-4);
}

TEST(PairFold, VectorsOfTheTwoTastesAreFarApart) {
  const TempFolder folder;
  TinyPairs tiny(testing::tiny_ratings(folder, 60), 12);
  PairRounds source = tiny.source(0.1);
  tiny.step(source, 0);
  tiny.step(source, 1);
  const Tensor vectors = tiny.model.vectors.detach(), alike = torch::mm(vectors, vectors.t());
  EXPECT_GT(alike[0][2].item<double>(), 0);
  EXPECT_LT(alike[0][1].item<double>(), 0.2 * alike[0][2].item<double>());
}

// 120 items of two genres in turn; two thirds of what a user likes is of one of them.
data::Dataset two_genres(const TempFolder& folder) {
  data::DatasetBuilder builder("genres", "test");
  constexpr data::ItemId items = 120;
  for (data::ItemId i = 0; i < items; ++i) {
    const data::ItemId item = builder.add_item({.id = std::to_string(i), .title = "t"});
    const std::string_view genre = i % 2 ? "cold" : "warm";
    builder.set_item_category(item, "genres", {&genre, 1});
  }
  SeededRandom random(9, Purpose::test);
  for (std::uint32_t u = 0; u < 400; ++u) {
    const data::UserId user = builder.user(std::to_string(u));
    for (data::ItemId i = 0; i < items; ++i)
      if (uniform01(random) < (i % 2 == u % 2 ? 0.2 : 0.1)) builder.add_interaction(user, i, 5.0F, 100 + i);
  }
  if (!builder.write(folder.path())) throw std::runtime_error("cannot write the data set of two genres");
  return data::Dataset::open(folder.path()).value();
}

TEST(PairFold, GenresTellTheTastesApartWhereNoiseHidesThem) {
  const TempFolder folder;
  two_genres(folder);
  // Mean of v_a · v_b over pairs of one genre, less that over pairs of two.
  const auto told_apart = [&](bool features) {
    TinyPairs tiny(data::Dataset::open(folder.path()).value(), 120);
    PairRounds source = tiny.source(1, {.vectors = 5, .features = features});
    tiny.step(source, 0);
    tiny.step(source, 1);
    const Tensor vectors = tiny.model.vectors.detach(), genre = torch::ones({vectors.size(0)});
    genre.slice(0, 1, genre.size(0), 2).fill_(-1);
    return torch::mm(vectors, vectors.t()).mul(torch::outer(genre, genre)).mean().item<double>();
  };
  const double without = told_apart(false), with = told_apart(true);
  EXPECT_GT(with, 0);
  EXPECT_GT(with, 3 * std::abs(without));
}

TEST(PairFold, ARoundAskedForAgainIsTheSameAndThereAreTwo) {
  const TempFolder folder;
  TinyPairs tiny(testing::tiny_ratings(folder), 8);
  PairRounds source = tiny.source(1);
  EXPECT_TRUE(torch::equal(source.round(0).value().direction, source.round(0).value().direction));
  tiny.step(source, 0);
  EXPECT_TRUE(torch::equal(source.round(1).value().direction, source.round(1).value().direction));
  EXPECT_FALSE(source.round(2));
}

// Few users and so many items that the law of the noise shows.
data::Dataset wide(const TempFolder& folder) {
  data::DatasetBuilder builder("wide", "test");
  for (int i = 0; i < 6000; ++i) builder.add_item({.id = std::to_string(i), .title = "t"});
  for (std::uint32_t u = 0; u < 25; ++u) {
    const data::UserId user = builder.user(std::to_string(u));
    for (data::ItemId k = 0; k < 4; ++k) builder.add_interaction(user, 7 * u + k, 5.0F, 100 + k);
  }
  if (!builder.write(folder.path())) throw std::runtime_error("cannot write the wide data set");
  return data::Dataset::open(folder.path()).value();
}

// Noise over its promised deviation: variance 1, and as many beyond two deviations as a normal law has. With
// 6,000 coordinates 5 standard errors of a variance are 0.09 and of that share 0.0135.
void expect_normal_with(const Tensor& noise, double deviation) {
  const Tensor scaled = noise / deviation;
  EXPECT_NEAR(scaled.square().mean().item<double>(), 1, 0.1);
  EXPECT_NEAR(scaled.mean().item<double>(), 0, 0.07);
  EXPECT_NEAR(scaled.abs().gt(2).to(torch::kFloat64).mean().item<double>(), 0.0455, 0.0135);
}

TEST(PairFold, BothReleasesCarryTheNoiseOfAllDevices) {
  const TempFolder folder;
  TinyPairs tiny(wide(folder), 109);  // 5,995 pairs
  const std::uint64_t users = tiny.data.users.size();
  const auto released = [&](double noise_multiplier, std::uint32_t round) {
    PairRounds rounds = tiny.source(noise_multiplier);
    return testing::mean_of(rounds.gather, {round, rounds.fold.open(round).value().plan}).to(torch::kFloat64);
  };
  // Replace-one sensitivity of unit vectors without negative entries, and of products but for rounding: √2;
  // 25 · 0.8 = 20 users train and 16 of them surely make noise.
  const double promised = std::sqrt(2.0) / static_cast<double>(users);
  const double present = promised * std::sqrt(20.0 / 16);
  ASSERT_EQ(users, 20U);
  EXPECT_NEAR(noise_of_mean(plan_of(6000, users, 1), users), present, 0.01 * present);
  EXPECT_EQ(noise_of_mean(plan_of(6000, users, 0), users), 0);
  for (const std::uint32_t round : {0U, 1U})
    expect_normal_with(released(1, round) - released(0, round), present);
}

}  // namespace
}  // namespace sotto::fl
