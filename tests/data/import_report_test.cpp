#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/importers/import_job.h"

namespace sotto::data {
namespace {

using ::testing::HasSubstr;

TEST(ImportReport, AcceptsUpToTheLimitAndRefusesBeyond) {
  ImportReport report(ImportOptions{.malformed_limit = 0.01});
  EXPECT_TRUE(report.check());
  for (int row = 0; row < 99; ++row) report.good();
  report.malformed("a.tsv", 7, "three columns instead of four");
  EXPECT_EQ(report.rows(), 100U);
  EXPECT_EQ(report.malformed_rows(), 1U);
  EXPECT_TRUE(report.check());
  report.malformed("a.tsv", 8, "again");
  const Status status = report.check();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(status.error().message, HasSubstr("2 of 101"));
  EXPECT_THAT(status.error().message, HasSubstr("1 %"));
  EXPECT_THAT(status.error().message, HasSubstr("a.tsv:7: three columns instead of four"));
}

TEST(ImportReport, WithALimitOfZeroOneMalformedRowIsTooMany) {
  ImportReport report(ImportOptions{.malformed_limit = 0});
  for (int row = 0; row < 1000; ++row) report.good();
  EXPECT_TRUE(report.check());
  report.malformed("a", 1, "x");
  EXPECT_FALSE(report.check());
}

TEST(ImportReport, ShowsTheFirstFive) {
  ImportReport report(ImportOptions{});
  for (std::uint64_t line = 1; line <= 9; ++line) report.malformed("f", line, "bad");
  ASSERT_EQ(report.examples().size(), 5U);
  EXPECT_EQ(report.examples().front(), "f:1: bad");
  EXPECT_EQ(report.examples().back(), "f:5: bad");
}

TEST(ImportReport, MakesHostileReasonsSafeToShow) {
  ImportReport report(ImportOptions{});
  report.malformed("f", 1, "\x1b[2Jquote\n" + std::string(100'000, 'x'));
  EXPECT_LT(report.examples()[0].size(), 300U);
  EXPECT_THAT(report.examples()[0], HasSubstr("\\x1b[2Jquote\\x0axxx"));
}

}  // namespace
}  // namespace sotto::data
