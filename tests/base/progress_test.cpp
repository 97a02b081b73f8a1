#include "base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "fake_terminal.h"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

const ProgressState half_way{
    .label = "train", .unit = "users", .note = "auc 61.2", .done = 450, .total = 900, .seconds = 5};

std::size_t count(const std::string& text, char c) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

class ProgressDisplay : public ::testing::Test {
 protected:
  ~ProgressDisplay() override { set_progress_style(ProgressStyle::automatic); }
};

TEST(ProgressText, ALineHasCountShareRateEtaAndNote) {
  EXPECT_EQ(progress_line(half_way), "train: 450/900 users (50%), 90 users/s, ETA 0:05, auc 61.2");
}

TEST(ProgressText, AnUnknownTotalHasNeitherShareNorEta) {
  ProgressState state = half_way;
  state.total = 0;
  state.note = {};
  EXPECT_EQ(progress_line(state), "train: 450 users, 90 users/s, 0:05");
  EXPECT_EQ(progress_bar(state, 80), "train  450 users  90 users/s  0:05");
}

TEST(ProgressText, TheEndTellsTheTimeTaken) {
  ProgressState state = half_way;
  state.done = 900;
  state.seconds = 3725;
  state.finished = true;
  EXPECT_EQ(progress_line(state), "train: 900/900 users (100%), 0.242 users/s, in 1:02:05, auc 61.2");
}

TEST(ProgressText, TheFirstMomentHasNoRateYet) {
  const ProgressState state{.label = "read", .total = 10};
  EXPECT_EQ(progress_line(state), "read: 0/10 (0%), 0/s, 0:00");
}

TEST(ProgressText, MoreThanTheTotalStaysAtTheEnd) {
  const ProgressState state{.label = "x", .done = 30, .total = 10, .seconds = 1};
  EXPECT_EQ(progress_line(state), "x: 30/10 (100%), 30/s, ETA 0:00");
}

TEST(ProgressText, TheBarFillsTheWidth) {
  EXPECT_EQ(progress_bar(half_way, 80),
            "train  50% [##########----------]  450/900 users  90 users/s  ETA 0:05  auc 61.2");
  EXPECT_EQ(progress_bar(half_way, 80).size(), 80u);
}

TEST(ProgressText, ANarrowTerminalLosesTheBarThenThePartsFromTheRight) {
  EXPECT_EQ(progress_bar(half_way, 60), "train  50%  450/900 users  90 users/s  ETA 0:05  auc 61.2");
  EXPECT_EQ(progress_bar(half_way, 30), "train  50%  450/900 users");
  EXPECT_EQ(progress_bar(half_way, 10), "train  50%");
  EXPECT_EQ(progress_bar(half_way, 3), "tra");
  EXPECT_EQ(progress_bar(half_way, 0), "");
}

TEST(ProgressText, NoWidthIsExceededAndNoCharacterIsSplit) {
  ProgressState state = half_way;
  state.label = "größe";
  for (std::size_t width = 0; width < 150; ++width) {
    const std::string bar = progress_bar(state, width);
    const auto columns = std::count_if(bar.begin(), bar.end(), [](char c) { return (c & '\xC0') != '\x80'; });
    EXPECT_LE(static_cast<std::size_t>(columns), width);
    EXPECT_FALSE(bar.ends_with('\xC3')) << width;
  }
}

TEST_F(ProgressDisplay, SilentWritesNothing) {
  set_progress_style(ProgressStyle::silent);
  CaptureStderr();
  {
    Progress progress("work", 10);
    progress.advance(10);
  }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(ProgressDisplay, ShortWorkIsOneLineInALog) {
  set_progress_style(ProgressStyle::lines);
  CaptureStderr();
  {
    Progress progress("work", 10, "rows");
    for (int i = 0; i < 10; ++i) progress.advance();
    progress.note("fine");
    progress.finish();
    progress.advance();
  }
  const std::string output = GetCapturedStderr();
  EXPECT_EQ(count(output, '\n'), 1u) << output;
  EXPECT_THAT(output, ::testing::StartsWith("work: 10/10 rows (100%), "));
  EXPECT_THAT(output, ::testing::EndsWith(", fine\n"));
  EXPECT_EQ(count(output, '\r'), 0u);
}

TEST_F(ProgressDisplay, WorkThatNeverBeganIsNotMentioned) {
  for (const auto style : {ProgressStyle::lines, ProgressStyle::bar}) {
    set_progress_style(style);
    CaptureStderr();
    { const Progress progress("train", 10, "rounds"); }
    EXPECT_EQ(GetCapturedStderr(), "");
  }
}

TEST_F(ProgressDisplay, APartOfOtherWorkHasTheLineWhileItLasts) {
  FakeTerminal terminal(60);
  {
    Progress whole("whole", 2);
    whole.advance();
    {
      Progress part("part", 1);
      part.advance();
      whole.advance();
    }
    whole.finish();
  }
  const std::string output = terminal.output();
  const auto part = output.find("part");
  ASSERT_NE(part, std::string::npos) << output;
  EXPECT_LT(output.find("whole"), part);
  EXPECT_GT(output.rfind("whole"), part) << "its end is told";
  EXPECT_EQ(count(output, '\n'), 1u) << "the part leaves no line behind";
}

TEST_F(ProgressDisplay, AShortPartOfOtherWorkIsNotMentionedInALog) {
  set_progress_style(ProgressStyle::lines);
  CaptureStderr();
  {
    Progress whole("whole", 1);
    Progress("part", 1).advance();
    whole.advance();
  }
  EXPECT_THAT(GetCapturedStderr(), ::testing::AllOf(HasSubstr("whole"), ::testing::Not(HasSubstr("part"))));
}

TEST_F(ProgressDisplay, AutomaticMeansLinesWithoutATerminal) {
  CaptureStderr();
  Progress("work", 1).advance();
  EXPECT_THAT(GetCapturedStderr(), ::testing::StartsWith("work: 1/1"));
}

TEST_F(ProgressDisplay, ATerminalGetsABarAtMostTenTimesASecond) {
  FakeTerminal terminal(60);
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress("work", 100'000);
    for (int i = 0; i < 100'000; ++i) progress.advance();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::string output = terminal.output();
  // The terminal itself writes "\r\n" for the last "\n".
  EXPECT_LE(count(output, '\r'), 3 + static_cast<std::size_t>(seconds.count() * 10)) << output;
  EXPECT_EQ(count(output, '\n'), 1u);
  EXPECT_THAT(output, HasSubstr("100% [####"));
}

TEST_F(ProgressDisplay, ANarrowTerminalNeverWraps) {
  for (const unsigned short columns : {1, 2, 20}) {
    FakeTerminal terminal(columns);
    Progress("a long label that does not fit", 5).advance();
    const std::string output = terminal.output();
    const std::size_t shown = output.find("\x1b[K") - 1;  // after the "\r"
    EXPECT_LT(shown, columns);
  }
}

TEST_F(ProgressDisplay, ThreadsAdvanceTogether) {
  set_progress_style(ProgressStyle::lines);
  CaptureStderr();
  {
    Progress progress("work", 4000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          progress.advance();
          progress.note("n");
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("work: 4000/4000 (100%)"));
}

}  // namespace
}  // namespace sotto
