// The demo in small: what a newcomer sees is complete and true.

#include "eval/demo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "test_paths.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;

DemoSettings small_demo(const fs::path& out) {
  DemoSettings settings;
  settings.out = out;
  settings.readers = 450, settings.news = 200;
  settings.length = 0.04;
  return settings;
}

TEST(Demo, ShowsThreeSystemsBetweenChanceAndTheBestPossible) {
  const TempFolder folder;
  const auto result = run_demo(small_demo(folder / "demo"));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->rows.size(), 6U);
  EXPECT_NEAR(result->rows.front().metrics.auc, 0.5, 1e-9);
  for (const DemoRow& row : result->rows)
    EXPECT_LE(row.metrics.auc, result->rows.back().metrics.auc) << row.system;
  EXPECT_EQ(result->rows[2].epsilon, "none");
  EXPECT_EQ(result->rows[3].epsilon, "none");
  const double epsilon = std::stod(result->rows[4].epsilon);
  EXPECT_GT(epsilon, 7);
  EXPECT_LE(epsilon, 8);
  EXPECT_LT(result->rows[4].bytes_per_client, result->rows[3].bytes_per_client / 100);
}

TEST(Demo, WritesAReportWithCurvesAndThePrivacyPage) {
  const TempFolder folder;
  const auto result = run_demo(small_demo(folder / "demo"));
  ASSERT_TRUE(result) << result.error().message;
  const std::string html = read_file(result->report, 1 << 24).value();
  EXPECT_THAT(html, HasSubstr("privacy of sotto (sound mode)"));
  EXPECT_THAT(html, HasSubstr("simulation: no ε holds for these files; with secret noise it would be "));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr(result->rows[4].epsilon));
  EXPECT_THAT(to_text(*result), HasSubstr("private (sotto"));
  EXPECT_THAT(to_text(*result), HasSubstr("no ε holds for these files"));
  std::istringstream lines(to_text(*result));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }), 100)
        << line;
}

TEST(Demo, ReplacesAnEarlierDemoAndNothingElse) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "mine.txt", "keep"));
  const auto refused = run_demo(small_demo(folder.path()));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("choose another --out"));
  EXPECT_TRUE(fs::exists(folder / "mine.txt"));
}

}  // namespace
}  // namespace sotto::eval
