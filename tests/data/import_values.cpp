#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ctime>

#include "data/describe.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/time_split.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FieldValues, NumbersMustFillTheWholeField) {
  EXPECT_EQ(parse_integer("-17"), -17);
  EXPECT_EQ(parse_number("4.5"), 4.5F);
  for (const char* wrong : {"", " 1", "1 ", "1x", "x", "0x10", "9999999999999999999999"}) {
    EXPECT_EQ(parse_integer(wrong), std::nullopt) << wrong;
  }
  for (const char* wrong : {"", "1,5", "inf", "nan", "-INF", "1e999", "1.5.2"}) {
    EXPECT_EQ(parse_number(wrong), std::nullopt) << wrong;
  }
}

TEST(FieldValues, TimesOfAllFormats) {
  EXPECT_EQ(parse_time("1483225201", TimeFormat::unix_seconds), 1483225201);
  EXPECT_EQ(parse_time("1506826828999", TimeFormat::unix_milliseconds), 1506826828);
  EXPECT_EQ(parse_time("-1", TimeFormat::unix_milliseconds), -1);
  EXPECT_EQ(parse_time("1970-01-02", TimeFormat::iso), 86400);
  EXPECT_EQ(parse_time("2016-12-31T22:14:26.000Z", TimeFormat::iso), 1483222466);
  EXPECT_EQ(parse_time("2016-12-31 23:14:26+01:00", TimeFormat::iso), 1483222466);
  EXPECT_EQ(parse_time("2016-12-31 16:44-0530", TimeFormat::iso), 1483222440);
  EXPECT_EQ(parse_time("11/12/2019 2:14:46 PM", TimeFormat::american), 1573568086);
  EXPECT_EQ(parse_time("11/12/2019 12:00:00 AM", TimeFormat::american), 1573516800);
  EXPECT_EQ(parse_time("11/12/2019 12:00:00 PM", TimeFormat::american), 1573560000);
}

TEST(FieldValues, TimesThatDoNotExistAreRefused) {
  for (const char* wrong :
       {"", "2019-02-29", "2019-13-01", "2019-1-01", "2019-01-01T", "2019-01-01T25:00", "2019-01-01T10:00 ",
        "2019-01-01T10:00+15:00", "0000-01-01", "2019-01-01T10:00:00."}) {
    EXPECT_EQ(parse_time(wrong, TimeFormat::iso), std::nullopt) << wrong;
  }
  for (const char* wrong : {"", "2/30/2019 1:00:00 AM", "11/12/2019 0:14:46 PM", "11/12/2019 13:14:46 PM",
                            "11/12/2019 1:14:46", "11/12/2019 1:14:46 pm", "11-12-2019 1:14:46 PM"}) {
    EXPECT_EQ(parse_time(wrong, TimeFormat::american), std::nullopt) << wrong;
  }
  EXPECT_EQ(parse_time("9223372036854775807", TimeFormat::unix_seconds), std::nullopt);
}

RC_GTEST_PROP(FieldValuesProperty, BothDateFormatsAgreeWithTheClockOfTheSystem, ()) {
  const std::time_t time = *rc::gen::inRange<std::int64_t>(-62'135'596'800, 253'402'300'800);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char iso[64], american[64];
  const int hour = parts.tm_hour % 12 == 0 ? 12 : parts.tm_hour % 12;
  std::snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  std::snprintf(american, sizeof american, "%d/%d/%04d %d:%02d:%02d %s", parts.tm_mon + 1, parts.tm_mday,
                parts.tm_year + 1900, hour, parts.tm_min, parts.tm_sec, parts.tm_hour < 12 ? "AM" : "PM");
  RC_ASSERT(parse_time(iso, TimeFormat::iso) == time);
  RC_ASSERT(parse_time(american, TimeFormat::american) == time);
}

TEST(FieldValues, ListsHaveNoEmptyPieces) {
  std::vector<std::string_view> pieces = {"left over"};
  split_list("|a||b|", '|', pieces);
  EXPECT_THAT(pieces, ElementsAre("a", "b"));
  split_list("", '|', pieces);
  EXPECT_THAT(pieces, ElementsAre());
}

TEST(FieldValues, CountsAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1539265), "1,539,265");
}

constexpr std::int64_t day = 86'400;

std::vector<int> splits_of(const std::vector<RowMoment>& rows, std::string_view test_from, double share) {
  const auto start = parse_test_start(test_from);
  if (!start) throw std::runtime_error(start.error().message);
  const TimeSplit split = TimeSplit::by_time(rows, *start, share);
  std::vector<int> result;
  result.reserve(rows.size());
  for (const RowMoment& row : rows) result.push_back(static_cast<int>(split.of(row)));
  return result;
}

TEST(TimeSplit, TheLastDayTestsAndTheEndOfTheRestValidates) {
  const std::vector<RowMoment> rows = {{3 * day + 5, 1}, {day, 2},     {3 * day, 3},
                                       {2 * day, 4},     {day + 9, 5}, {0, 6}};
  EXPECT_THAT(splits_of(rows, "last-day", 0.25), ElementsAre(2, 0, 2, 1, 0, 0));
}

TEST(TimeSplit, ATimeOrNothingMayStartTheTest) {
  const std::vector<RowMoment> rows = {{0, 1}, {day, 2}, {2 * day, 3}};
  EXPECT_THAT(splits_of(rows, "none", 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(splits_of(rows, "1970-01-02", 0), ElementsAre(0, 2, 2));
  EXPECT_THAT(splits_of(rows, "1/2/1970 12:00:01 AM", 0), ElementsAre(0, 0, 2));
  EXPECT_FALSE(parse_test_start("tomorrow"));
}

TEST(TimeSplit, RowsOfOneDayAllTrain) {
  EXPECT_THAT(splits_of({{10, 1}, {20, 2}}, "last-day", 0), ElementsAre(0, 0));
  EXPECT_THAT(splits_of({}, "last-day", 0.5), ElementsAre());
}

TEST(TimeSplit, RowsOfTheSameSecondAreSharedOutByLine) {
  EXPECT_THAT(splits_of({{7, 1}, {7, 2}, {7, 3}, {7, 4}}, "none", 0.5), ElementsAre(0, 0, 1, 1));
}

class Recorder final : public JsonVisitor {
 public:
  void member(std::size_t depth, std::string_view key, const JsonScalar& value) override {
    seen.push_back(fmt::format("{}:{}={}", depth, key, value.text));
  }
  void object_end(std::size_t depth) override { seen.push_back(fmt::format("end {}", depth)); }
  std::vector<std::string> seen;
};

TEST(JsonMembers, ReportsScalarMembersOfObjectsWithTheirDepth) {
  Recorder recorder;
  ASSERT_TRUE(
      visit_json(R"({"a": "x", "b": [1, {"c": -2}, "skipped"], "d": 1.50})", JsonRoot::object, recorder));
  EXPECT_THAT(recorder.seen, ElementsAre("1:a=x", "3:c=-2", "end 3", "1:d=1.50", "end 1"));
}

TEST(JsonMembers, SaysWhatIsWrong) {
  Recorder recorder;
  const auto problem = [&](std::string_view text) {
    const Status status = visit_json(text, JsonRoot::object, recorder);
    return status ? "accepted" : status.error().message;
  };
  EXPECT_THAT(problem("{\"a\": }"), HasSubstr("not JSON"));
  EXPECT_THAT(problem(""), HasSubstr("not JSON"));
  EXPECT_THAT(problem("{} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(problem("{\"a\": 1e999}"), HasSubstr("not JSON"));
  EXPECT_THAT(problem("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(problem("3"), HasSubstr("not a JSON object"));
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_THAT(problem(deep), HasSubstr("too deep"));
}

}  // namespace
}  // namespace sotto::data
