#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/log_lines.h"
#include "base/progress.h"
#include "fake_terminal.h"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Log : public ::testing::Test {
 protected:
  ~Log() override {
    set_log_lines(LogLines::text);
    EXPECT_TRUE(set_log_level("info"));
  }
};

TEST_F(Log, GoesToStderrWithTimeAndLevelWhenNotOnATerminal) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  info("loaded {} users", 7);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              MatchesRegex("[0-9-]+T[0-9:.]+[+-][0-9:]+ info loaded 7 users\n"));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(Log, IsPlainOnATerminalExceptForTrouble) {
  FakeTerminal terminal(80);
  log_setup::use_stderr();
  info("loaded");
  warn("slow");
  error("broken");
  const std::string erase = "\r\x1b[K";
  EXPECT_EQ(terminal.output(),
            erase + "loaded\r\n" + erase + "warning: slow\r\n" + erase + "error: broken\r\n");
}

TEST_F(Log, IsOneJsonObjectALineWhereItIsCollectedWhateverIsSaid) {
  ::testing::internal::CaptureStderr();
  set_log_lines(LogLines::json);
  info("loaded {} users", 7);
  warn("a \"quoted\"\nline \\ and \xff no text");
  {
    Progress progress("calibrating", 2, "rounds");
    progress.advance(2);
  }
  std::istringstream lines(::testing::internal::GetCapturedStderr());
  std::vector<nlohmann::json> said;
  for (std::string line; std::getline(lines, line);) said.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(said.size(), 3U);
  for (const nlohmann::json& one : said) {
    EXPECT_EQ(one.size(), 3U);
    EXPECT_THAT(one["time"].get<std::string>(),
                MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+[.][0-9]+Z"));
  }
  EXPECT_EQ(said[0]["level"], "info");
  EXPECT_EQ(said[0]["message"], "loaded 7 users");
  EXPECT_EQ(said[1]["level"], "warning");
  EXPECT_THAT(said[1]["message"].get<std::string>(), HasSubstr("a \"quoted\"\nline \\ and "));
  EXPECT_THAT(said[2]["message"].get<std::string>(), ::testing::StartsWith("calibrating: 2/2 rounds"));
}

TEST_F(Log, JsonLinesSayTheTimeInUtc) {
  const auto time = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1) + std::chrono::hours(6) +
                    std::chrono::milliseconds(50);
  EXPECT_EQ(json_log_line(time, LogLevel::error, "full"),
            "{\"time\":\"2026-03-01T06:00:00.050Z\",\"level\":\"error\",\"message\":\"full\"}\n");
}

TEST_F(Log, TheLevelHidesWhatIsBelow) {
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(set_log_level("warn"));
  info("hidden");
  warn("shown");
  ASSERT_TRUE(set_log_level("off"));
  error("hidden");
  const std::string output = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(output, HasSubstr("shown"));
  EXPECT_THAT(output, ::testing::Not(HasSubstr("hidden")));
}

TEST_F(Log, AnUnknownLevelOffersTheNearest) {
  const auto status = set_log_level("inof");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(status.error().message,
            "unknown log level 'inof'; did you mean 'info'? use one of trace, debug, info, warn, error, off");
}

}  // namespace
}  // namespace sotto
