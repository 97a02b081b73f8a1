// Every recipe with differential privacy leaves its datasheet as text and as JSON, with the same numbers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "eval/small_newsroom.h"
#include "fl/tiny_interactions.h"

namespace sotto {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Case {
  std::string recipe, mode;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.recipe << ", " << tested.mode; }

std::vector<Case> private_recipes() {
  std::vector<Case> cases;
  for (const RecipeEntry& entry : recipes()) {
    if (!entry.differentially_private) continue;
    SettingsTable table;
    const auto recipe = entry.make();
    recipe->bind(table);
    cases.push_back({std::string(entry.name), "sound"});
    if (table.to_json().contains("mode")) cases.push_back({std::string(entry.name), "paper"});
  }
  return cases;
}

// What the recipe knows of a list of settings that make it small.
std::vector<std::string> small_settings(const std::string& name) {
  SettingsTable table;
  const auto recipe = find_recipe(name).value()->make();
  recipe->bind(table);
  const json known = table.to_json();
  std::vector<std::string> settings;
  for (const std::string setting : {"cohort=12", "group=12", "word_size=8", "heads=2", "head_size=4",
                                    "filters=8", "pooling_size=4", "vector_size=8", "embedding=4", "hidden=4",
                                    "layers=1", "serving_epsilon=3", "prototypes=4", "train_words=true"})
    if (known.contains(setting.substr(0, setting.find('=')))) settings.push_back(setting);
  return settings;
}

bool takes_interactions(const std::string& recipe) { return recipe == "dp-privrec" || recipe == "dp-svd"; }

class Datasheets : public ::testing::TestWithParam<Case> {};

TEST_P(Datasheets, TextAndJsonSayTheSame) {
  const testing::SmallNewsroom news(60);
  const TempFolder ratings;
  const Dataset interactions = testing::tiny_ratings(ratings, 60);
  const auto& [recipe, mode] = GetParam();
  TrainJob job = news.job(recipe, "run", 2, small_settings(recipe));
  if (mode == "paper")
    job.mode = mode;
  else
    job.epsilon = "50";
  const auto outcome = train_run(job, takes_interactions(recipe) ? interactions : news.dataset, {});
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
  for (const char* key : {"epsilon_claimed", "epsilon_query"}) {
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
  for (const char* key :
       {"epsilon", "epsilon_published", "epsilon_claimed", "epsilon_query", "delta", "unit"})
    EXPECT_EQ(result.at(key), sheet.at(key)) << key;
  if (mode == "sound") {
    EXPECT_LE(sheet.at("epsilon_published").get<double>(), 50);
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Datasheets, ::testing::ValuesIn(private_recipes()), [](const auto& test) {
  std::string name = test.param.recipe + "_" + test.param.mode;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace sotto
