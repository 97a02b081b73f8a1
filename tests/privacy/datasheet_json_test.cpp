// A datasheet is read back as it was written; runs of the version before have no sums.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "privacy/accounting/datasheet.h"

namespace sotto::privacy {
namespace {

PrivacyDatasheet sheet() {
  PrivacyDatasheet sheet;
  sheet.recipe = "sotto";
  sheet.mode = "sound";
  sheet.mechanism = "noisy sums";
  sheet.sampling = "10 of 100";
  sheet.composition = "5 rounds";
  sheet.delta = 1e-6;
  sheet.epsilon_server = 8;
  sheet.epsilon_noised_part = 4.6e7;
  sheet.epsilon_query = 10;
  sheet.delta_query = 1e-7;
  sheet.query_choices = 64;
  sheet.sums = {{.of = "updates",
                 .clip = 1,
                 .step = 0.001,
                 .noise_multiplier = 1.5,
                 .clip_bit_weight = 0.5,
                 .nonnegative = false,
                 .products = true,
                 .devices = 10,
                 .dropped = 2,
                 .corrupted = 1}};
  sheet.server_sees = {"a sum"};
  sheet.not_protected = {"the weather", "what is common"};
  return sheet;
}

TEST(DatasheetJson, IsReadBackAsItWasWritten) {
  for (const bool reproducible : {false, true}) {
    PrivacyDatasheet written = sheet();
    written.reproducible = reproducible;
    const auto read = datasheet_from_json(to_json(written));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), to_json(written));
    EXPECT_EQ(read->sums.at(0).clip_bit_weight, 0.5);
    EXPECT_EQ(read->query_choices, 64U);
    EXPECT_EQ(read->epsilon_noised_part, 4.6e7);
    EXPECT_EQ(read->epsilon_published, std::nullopt);
    EXPECT_EQ(simulation_note(*read).has_value(), reproducible);
  }
}

TEST(DatasheetJson, OfTheVersionBeforeHasNoSums) {
  auto json = nlohmann::json::parse(to_json(sheet()));
  json.erase("sums");
  json.erase("query_choices");
  json.erase("epsilon_noised_part");
  const auto read = datasheet_from_json(json.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->sums.empty());
  EXPECT_EQ(read->epsilon_server, 8);
}

TEST(Datasheet, SaysInItsFirstLineWhetherItWasASimulation) {
  PrivacyDatasheet one = sheet();
  const auto first_line = [&] {
    const std::string text = to_text(one);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line(), "no simulation, all noise was secret: none of it is in any file");
  one.reproducible = true;
  EXPECT_EQ(first_line().find("simulation: no ε holds for these files"), 0U) << first_line();
}

TEST(DatasheetJson, RefusesWhatNoDatasheetSays) {
  for (const char* key : {"recipe", "epsilon", "unit", "delta", "simulation"}) {
    auto json = nlohmann::json::parse(to_json(sheet()));
    json.erase(key);
    EXPECT_FALSE(datasheet_from_json(json.dump())) << key;
  }
  auto json = nlohmann::json::parse(to_json(sheet()));
  json["unit"] = "planet";
  const auto planet = datasheet_from_json(json.dump());
  ASSERT_FALSE(planet);
  EXPECT_NE(planet.error().message.find("planet"), std::string::npos) << planet.error().message;
  json = nlohmann::json::parse(to_json(sheet()));
  json["sums"][0]["devices"] = "many";
  EXPECT_FALSE(datasheet_from_json(json.dump()));
  for (const char* text : {"", "[]", "7", "{", "{}"}) EXPECT_FALSE(datasheet_from_json(text)) << text;
}

}  // namespace
}  // namespace sotto::privacy
