// What a server says about the privacy of the run it serves.

#include "serving/run_privacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "privacy/accounting/datasheet.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using ::testing::HasSubstr;

struct ServedFolder {
  explicit ServedFolder(const nlohmann::json& sheet, int releases = 0) {
    if (!sheet.is_null()) std::ofstream(folder / "privacy.json") << sheet.dump();
    std::ofstream charges(folder / demand_charges_file);
    for (int i = 0; i < releases; ++i) charges << R"({"epsilon":0.5})" << '\n';
  }
  std::string text() const { return privacy_of_run(folder.path()).value().text; }
  nlohmann::json stated() const {
    return nlohmann::json::parse(privacy_of_run(folder.path()).value().as_json);
  }
  TempFolder folder;
};

nlohmann::json sheet(std::optional<double> epsilon, bool reproducible = false) {
  privacy::PrivacyDatasheet sheet;
  sheet.epsilon_published = epsilon;
  sheet.delta = 1e-6;
  sheet.reproducible = reproducible;
  return nlohmann::json::parse(to_json(sheet));
}

TEST(RunPrivacy, AddsDemandToTheTraining) {
  EXPECT_EQ(ServedFolder(sheet(3)).text(),
            "training: epsilon 3 of what is published, none against the server, at delta 1e-06");
  const ServedFolder both(sheet(3), 1);
  EXPECT_TRUE(privacy_of_run(both.folder.path()).value().holds);
  EXPECT_THAT(both.text(), HasSubstr("demand, released once: epsilon 0.5 per training reader"));
  EXPECT_THAT(both.text(), HasSubstr("3.5 together"));
  EXPECT_EQ(both.stated().at("published"), 3.5);
  EXPECT_EQ(ServedFolder(sheet(3), 4).stated().at("published"), 5);
}

TEST(RunPrivacy, SaysNoneWhereTheTrainingHasNone) {
  for (const ServedFolder& run : {ServedFolder(nullptr, 1), ServedFolder(sheet(std::nullopt), 1)}) {
    EXPECT_THAT(run.text(), HasSubstr("no epsilon holds"));
    EXPECT_THAT(run.text(), HasSubstr("--epsilon")) << "what to do";
    EXPECT_FALSE(privacy_of_run(run.folder.path()).value().holds);
    EXPECT_THAT(run.text(), HasSubstr("together none"));
    EXPECT_TRUE(run.stated().at("published").is_null());
  }
}

TEST(RunPrivacy, AnEpsilonThatHidesNothingIsNoPrivacy) {
  const ServedFolder run(sheet(3.7e6));
  EXPECT_FALSE(privacy_of_run(run.folder.path()).value().holds);
  EXPECT_THAT(run.text(), HasSubstr("hides nothing"));
}

TEST(RunPrivacy, CarriesTheSentenceOfASimulation) {
  const ServedFolder run(sheet(3, true), 1);
  const std::string sentence =
      "simulation: no ε holds for these files; with secret noise it would be none against the server, 3 of "
      "what is published, at delta 1e-06";
  EXPECT_THAT(run.text(), HasSubstr(sentence));
  EXPECT_THAT(run.text(), HasSubstr("together none"));
  EXPECT_EQ(run.stated().at("simulation"), sentence);
  EXPECT_TRUE(run.stated().at("published").is_null());
}

TEST(RunPrivacy, RefusesADamagedSheet) {
  const auto refused = privacy_of_run(ServedFolder(nlohmann::json::array()).folder.path());
  EXPECT_FALSE(refused);
}

}  // namespace
}  // namespace sotto::serving
