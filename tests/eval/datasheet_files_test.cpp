// Every recipe with differential privacy leaves its datasheet as text and as JSON, with the same numbers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "eval/private_recipes.h"
#include "eval/small_newsroom.h"
#include "fl/tiny_interactions.h"

namespace sotto::eval {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Datasheets : public ::testing::TestWithParam<testing::PrivateRecipe> {};

TEST_P(Datasheets, TextAndJsonSayTheSame) {
  const testing::SmallNewsroom news(60);
  const TempFolder ratings;
  const data::Dataset interactions = fl::testing::tiny_ratings(ratings, 60);
  const auto& [recipe, mode] = GetParam();
  TrainJob job = news.job(recipe, "run", 2, testing::small_settings(recipe));
  if (mode == "paper")
    job.mode = mode;
  else
    job.epsilon = "50";
  const auto outcome = train_run(job, GetParam().takes_interactions() ? interactions : news.dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const std::string text = read_file(job.out / "privacy.txt", 1 << 16).value();
  const json sheet = json::parse(read_file(job.out / "privacy.json", 1 << 16).value()),
             result = json::parse(read_file(job.out / "result.json", 1 << 20).value());

  const auto shown = [&](const char* key) {
    return sheet.at(key).is_null() ? std::string("none") : fmt::format("{:.4g}", sheet.at(key).get<double>());
  };
  EXPECT_THAT(text, HasSubstr(fmt::format("privacy of {} ({} mode)", recipe, mode)));
  EXPECT_THAT(text, HasSubstr(fmt::format("{} against the server, {} of what is published, at delta {:g}",
                                          shown("epsilon"), shown("epsilon_published"),
                                          sheet.at("delta").get<double>())));
  EXPECT_EQ(text.find("paper claims") == std::string::npos, sheet.at("epsilon_claimed").is_null());
  EXPECT_EQ(text.find("each, on top of the training") == std::string::npos,
            sheet.at("epsilon_query").is_null());
  EXPECT_EQ(text.find("noised part") == std::string::npos, sheet.at("epsilon_noised_part").is_null());
  for (const char* key : {"epsilon_claimed", "epsilon_noised_part", "epsilon_query"}) {
    if (!sheet.at(key).is_null()) {
      EXPECT_THAT(text, HasSubstr(" " + shown(key)));
    }
  }
  EXPECT_THAT(text, HasSubstr(fmt::format("one {}, {}", sheet.at("unit").get<std::string>(),
                                          sheet.at("adjacency").get<std::string>())));
  for (const char* key : {"mechanism", "sampling", "composition"})
    EXPECT_THAT(text, HasSubstr(sheet.at(key).get<std::string>()));
  for (const char* key : {"server_sees", "not_protected"}) {
    EXPECT_FALSE(sheet.at(key).empty()) << key;
    for (const json& line : sheet.at(key)) EXPECT_THAT(text, HasSubstr(line.get<std::string>()));
  }
  for (const char* key : {"epsilon", "epsilon_published", "epsilon_claimed", "epsilon_noised_part",
                          "epsilon_query", "delta", "unit", "simulation"})
    EXPECT_EQ(result.at(key), sheet.at(key)) << key;
  EXPECT_THAT(sheet.at("simulation").get<std::string>(),
              HasSubstr("simulation: no ε holds for these files; with secret noise it would be "));
  EXPECT_THAT(text, HasSubstr(sheet.at("simulation").get<std::string>()));
  EXPECT_THAT(text, HasSubstr(sheet.at("ledger").get<std::string>()));
  EXPECT_THAT(text, HasSubstr("this training charged none"));
  if (mode == "sound") {
    EXPECT_LE(sheet.at("epsilon_published").get<double>(), 50);
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Datasheets, ::testing::ValuesIn(testing::private_recipes()),
                         [](const auto& test) { return test.param.label(); });

// Beside the noised gradients every device sends the number of its clicks as it is.
TEST(Datasheets, TheEpsilonOfFedNewsRecsUploadsIsNoneAndThatOfTheirNoiseStandsApart) {
  const testing::SmallNewsroom news(60);
  TrainJob job = news.job("fednewsrec", "run", 2, testing::small_settings("fednewsrec"));
  job.mode = "paper";
  const auto outcome = train_run(job, news.dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const double claimed = 2 * 0.005 / 0.015;
  EXPECT_NEAR(*outcome->privacy->epsilon_claimed, claimed, 1e-9);
  EXPECT_FALSE(outcome->privacy->epsilon_server);
  EXPECT_FALSE(outcome->privacy->epsilon_published);
  // All coordinates of both rounds.
  const double noised = *outcome->privacy->epsilon_noised_part;
  EXPECT_NEAR(noised / (2 * static_cast<double>(outcome->parameters) * claimed), 1, 1e-5);
  const std::string alone = fmt::format("{:.4g} is the epsilon of the noised gradients alone", noised);
  EXPECT_THAT(outcome->privacy->mechanism, HasSubstr(alone));
  EXPECT_THAT(outcome->privacy->not_protected, ::testing::Contains(HasSubstr(alone)));
  EXPECT_THAT(outcome->privacy->server_sees, ::testing::Contains("how many clicks every device has"));
  EXPECT_THAT(privacy::in_words(*outcome->privacy), ::testing::Not(HasSubstr("holds for every user")));
}

}  // namespace
}  // namespace sotto::eval
