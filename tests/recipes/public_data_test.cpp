// A recipe that promises an epsilon trains on the public part of a data set: what one user does reaches
// neither the shape of the model nor a number that is published.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/impression_view.h"
#include "eval/private_recipes.h"
#include "model/interactions/tabular_inputs.h"
#include "recipes/run_data.h"
#include "test_paths.h"

namespace sotto::recipes {
namespace {

using ::testing::HasSubstr;

// 60 users of 12 films; the last one's last row is on `last_item`, in the town `last_town`.
data::DatasetBuilder ratings(std::string_view last_item, std::string_view last_town) {
  data::DatasetBuilder builder("films", "test");
  const std::string_view words[] = {"sea", "fire", "stone", "wind", "snow", "sand", "rain", "dust", "smoke"};
  for (int i = 0; i < 12; ++i) {
    const data::ItemId item =
        builder.add_item({.id = fmt::format("M{}", i),
                          .title = fmt::format("{} film of {} and {}", i % 2 ? "Blue" : "Red", words[i % 9],
                                               words[(i + 4) % 9])});
    const std::string_view genre = i % 2 ? "cold" : "warm";
    builder.set_item_category(item, "genres", {&genre, 1});
  }
  const std::string_view towns[] = {"Bergen", "Oslo"};
  builder.declare_user_category("town", towns);
  for (int u = 0; u < 60; ++u) {
    const bool last = u == 59;
    const data::UserId user = builder.user(fmt::format("U{}", u));
    const std::string_view town = last ? last_town : towns[u % 2], street = last ? last_town : "Main";
    builder.set_user_category(user, "town", {&town, 1});
    builder.set_user_category(user, "street", {&street, 1});
    for (int k = 0; k < 7; ++k) {
      const auto item = static_cast<data::ItemId>((5 * u + 7 * k) % 12);
      builder.add_interaction(user, item, item % 2 == static_cast<data::ItemId>(u % 2) ? 5 : 1, 100 + k);
    }
    if (last) builder.add_interaction(user, builder.item(last_item), 5, 200);
  }
  return builder;
}

data::Dataset stored(const data::DatasetBuilder& builder, const fs::path& folder) {
  fs::create_directories(folder);
  if (const auto written = builder.write(folder); !written) throw std::runtime_error(written.error().message);
  return data::Dataset::open(folder).value();
}

data::Dataset as_impressions(const data::Dataset& source, data::NegativeSampling sampling,
                             const fs::path& folder) {
  auto view = data::build_impression_view(source, {.negatives = 3, .sampling = sampling});
  if (!view) throw std::runtime_error(view.error().message);
  return stored(*view, folder);
}

class PublicData : public ::testing::TestWithParam<eval::testing::PrivateRecipe> {
 protected:
  // Through the same door as every run.
  Result<TrainOutcome> train(const std::string& name, const data::Dataset& dataset) {
    const auto recipe = find_recipe(GetParam().recipe).value()->make();
    SettingsTable table;
    recipe->bind(table);
    auto settings = eval::testing::small_settings(GetParam().recipe);
    settings.emplace_back("rounds=2");
    settings.emplace_back(sound() ? "epsilon=50" : "mode=paper");
    for (const std::string& setting : settings) SOTTO_CHECK(table.set_assignment(setting));
    SOTTO_TRY(const auto seen, training_data_of(*recipe, dataset));
    fs::create_directories(folder_ / name);
    const RunRequest request{.dataset = seen,
                             .run = folder_ / name,
                             .evaluate = [](auto&&...) { return metrics::MeanImpressionMetrics{}; },
                             .evaluate_held_out = [](auto&&...) { return metrics::HeldOutReport{}; },
                             .evaluate_served = [](auto&&...) { return metrics::MeanImpressionMetrics{}; }};
    return recipe->train(request);
  }
  bool sound() const { return GetParam().mode == "sound"; }
  data::Dataset dataset(const data::DatasetBuilder& builder, const std::string& name) const {
    data::Dataset rows = stored(builder, folder_ / name);
    if (GetParam().takes_interactions()) return rows;
    return as_impressions(rows, data::NegativeSampling::uniform, folder_ / (name + " as impressions"));
  }
  TempFolder folder_;
};

std::vector<eval::testing::PrivateRecipe> recipes_that(bool (*wanted)(const eval::testing::PrivateRecipe&)) {
  auto all = eval::testing::private_recipes();
  std::erase_if(all, [&](const auto& recipe) { return !wanted(recipe); });
  return all;
}

class SoundTraining : public PublicData {};
class NewsTraining : public PublicData {};

TEST_P(SoundTraining, OneUsersRareItemAndTownChangeNoNumberThatIsPublished) {
  const auto published = [&](const std::string& name, std::string_view item, std::string_view town) {
    const auto outcome = train(name, dataset(ratings(item, town), name + " data"));
    if (!outcome) throw std::runtime_error(outcome.error().message);
    return std::tuple(outcome->parameters, outcome->bytes_up, outcome->bytes_down, outcome->training_users,
                      privacy::to_text(*outcome->privacy),
                      read_file(folder_ / name / "privacy.toml", 1 << 16).value());
  };
  const auto plain = published("plain", "M3", "Oslo"), rare = published("rare", "his alone", "Atlantis");
  EXPECT_EQ(std::get<0>(rare), std::get<0>(plain)) << "parameters";
  EXPECT_EQ(rare, plain);
}

TEST_P(NewsTraining, RowsDrawnByWhatAllUsersDidAreRefused) {
  const data::Dataset rows = stored(ratings("M3", "Oslo"), folder_ / "rows");
  const data::Dataset popular =
      as_impressions(rows, data::NegativeSampling::popularity, folder_ / "popularity");
  const auto outcome = train("run", popular);
  if (!sound()) {
    EXPECT_TRUE(outcome) << outcome.error().message;
    return;
  }
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("were drawn by what all users did"));
  EXPECT_THAT(outcome.error().message, HasSubstr("sampling=uniform"));
}

TEST_P(SoundTraining, ALogWithoutAPublicListOfItemsIsRefused) {
  data::DatasetBuilder builder("log", "test");
  for (int u = 0; u < 20; ++u)
    for (int k = 0; k < 5; ++k)
      builder.add_interaction(builder.user(fmt::format("U{}", u)), builder.item(fmt::format("{}", k)), 5, k);
  const auto outcome = train("run", stored(builder, folder_ / "log"));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("no public list of items"));
}

TEST_P(PublicData, TheSoundPathsTakeNothingElse) {
  const auto recipe = find_recipe(GetParam().recipe).value()->make();
  SettingsTable table;
  recipe->bind(table);
  if (!sound()) {
    ASSERT_TRUE(table.set("mode", "paper"));
  }
  EXPECT_EQ(recipe->promises_epsilon(), sound());
  const data::Dataset whole = dataset(ratings("his alone", "Atlantis"), "whole");
  EXPECT_FALSE(check_may_train_privately(whole));
  const auto seen = training_data_of(*recipe, whole);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->item_count(), sound() ? 12U : 13U);
  EXPECT_EQ(check_may_train_privately(*seen).has_value(), sound());
}

INSTANTIATE_TEST_SUITE_P(Recipes, PublicData, ::testing::ValuesIn(eval::testing::private_recipes()),
                         [](const auto& test) { return test.param.label(); });

INSTANTIATE_TEST_SUITE_P(Recipes, SoundTraining, ::testing::ValuesIn(recipes_that([](const auto& recipe) {
                           return recipe.mode == "sound";
                         })),
                         [](const auto& test) { return test.param.label(); });
INSTANTIATE_TEST_SUITE_P(Recipes, NewsTraining, ::testing::ValuesIn(recipes_that([](const auto& recipe) {
                           return !recipe.takes_interactions();
                         })),
                         [](const auto& test) { return test.param.label(); });

TEST(PublicData, RecipesWithoutABudgetSeeEverything) {
  for (const RecipeEntry& entry : recipes()) {
    if (entry.differentially_private) continue;
    const auto recipe = entry.make();
    SettingsTable table;
    recipe->bind(table);
    EXPECT_FALSE(recipe->promises_epsilon()) << entry.name;
  }
}

// Values of a feature are cut off at 1,000 by the declared list, not by how many users happen to have.
TEST(PublicData, AFeatureStaysOrGoesByItsDeclaredValues) {
  const TempFolder folder;
  data::DatasetBuilder builder = ratings("M3", "Oslo");
  for (int u = 0; u < 1100; ++u) {
    const std::string town = fmt::format("hamlet {}", u);
    const std::string_view value = town;
    builder.set_user_category(builder.user(fmt::format("V{}", u)), "town", {&value, 1});
  }
  const data::Dataset dataset = stored(builder, folder / "data");
  const auto recipe = find_recipe("dp-privrec").value()->make();
  SettingsTable table;
  recipe->bind(table);
  const auto seen = training_data_of(*recipe, dataset);
  ASSERT_TRUE(seen);
  const auto learned = model::build_tabular_inputs(dataset, model::InputChoice::rich),
             declared = model::build_tabular_inputs(*seen, model::InputChoice::rich);
  ASSERT_TRUE(learned && declared);
  ASSERT_EQ(declared->user.size(), 1U);
  ASSERT_EQ(learned->user.size(), 1U) << "1,102 towns are too many to learn";
  EXPECT_NE(learned->user[0].name, declared->user[0].name);
  EXPECT_EQ(declared->user[0].values, 3) << "Bergen, Oslo, other";
}

}  // namespace
}  // namespace sotto::recipes
