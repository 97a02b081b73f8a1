#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_terminal.h"

namespace sotto {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class Log : public testing::Test {
 protected:
  ~Log() override {
    log_setup::use_stderr();
    EXPECT_TRUE(set_log_level("info"));
  }
};

TEST_F(Log, GoesToStderrWithTimeAndLevelWhenNotOnATerminal) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  info("loaded {} users", 7);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              MatchesRegex("[0-9-]+T[0-9:.]+[+-][0-9:]+ info loaded 7 users\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
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

TEST_F(Log, TheLevelHidesWhatIsBelow) {
  testing::internal::CaptureStderr();
  ASSERT_TRUE(set_log_level("warn"));
  info("hidden");
  warn("shown");
  ASSERT_TRUE(set_log_level("off"));
  error("hidden");
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_THAT(output, HasSubstr("shown"));
  EXPECT_THAT(output, testing::Not(HasSubstr("hidden")));
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
