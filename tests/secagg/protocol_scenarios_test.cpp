// Plays every file of tests/secagg/scenarios.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "secagg/protocol_scenario.h"

namespace sotto::secagg::testing_round {
namespace {

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::filesystem::path(SOTTO_SOURCE_DIR) / "tests/secagg/scenarios";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt" && entry.path().stem() != "README") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Scenarios : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Scenarios, ComeTrue) {
  std::ifstream file(GetParam());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto scenario = read_scenario(text);
  ASSERT_TRUE(scenario) << scenario.error().message;
  for (const auto& complaint : play(*scenario)) ADD_FAILURE() << complaint;
}

INSTANTIATE_TEST_SUITE_P(Told, Scenarios, ::testing::ValuesIn(scenario_files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The player itself can say no.
TEST(ScenarioPlayer, ComplainsAboutWhatDidNotComeTrue) {
  const std::string start = "group 6 corrupted 0 dropping 0.34 server semi-honest\ndrop 2 before upload\n";
  const auto complaints = [&](const std::string& line) {
    const auto scenario = read_scenario(start + line);
    EXPECT_TRUE(scenario);
    return play(*scenario).size();
  };
  EXPECT_EQ(complaints("expect sum of 1 3 4 5 6"), 0U);
  EXPECT_EQ(complaints("expect sum of 1 2 3 4 5 6"), 1U);
  EXPECT_EQ(complaints("expect round fails"), 1U);
  EXPECT_EQ(complaints("expect client 3 aborts"), 1U);
  EXPECT_EQ(complaints("expect client 3 is removed"), 1U);
  EXPECT_FALSE(read_scenario(start + "drop 9 before upload\nexpect round fails"));
  EXPECT_FALSE(read_scenario(start + "drop 2 before lunch\nexpect round fails"));
  EXPECT_FALSE(read_scenario(start));
}

}  // namespace
}  // namespace sotto::secagg::testing_round
