#include "data/importers/time_split.h"

#include <algorithm>

#include "base/utf8.h"
#include "data/importers/field_values.h"

namespace sotto::data {

namespace {

std::int64_t start_of_day(std::int64_t time) {
  return time - ((time % seconds_per_day) + seconds_per_day) % seconds_per_day;
}

}  // namespace

Result<TestStart> parse_test_start(std::string_view text) {
  if (text == "none") return TestStart{TestStart::Kind::never};
  if (text == "last-day") return TestStart{TestStart::Kind::last_day};
  for (const TimeFormat format : {TimeFormat::iso, TimeFormat::american}) {
    if (const auto time = parse_time(text, format)) return TestStart{TestStart::Kind::at_time, *time};
  }
  return bad_input("test_from = '{}' is none of: none, last-day, a time like 2019-11-14T00:00:00",
                   printable(text));
}

TimeSplit TimeSplit::all(Split split) {
  TimeSplit result;
  result.fixed_ = split;
  return result;
}

TimeSplit TimeSplit::by_time(std::vector<RowMoment> rows, const TestStart& test_start,
                             double validation_share) {
  TimeSplit result;
  if (test_start.kind == TestStart::Kind::last_day || validation_share > 0)
    result.origin_ = SplitOrigin::all_users;
  if (rows.empty()) return result;
  std::sort(rows.begin(), rows.end());
  if (test_start.kind == TestStart::Kind::at_time) {
    result.test_from_ = RowMoment{test_start.time, 0};
  } else if (test_start.kind == TestStart::Kind::last_day) {
    const std::int64_t last_day = start_of_day(rows.back().time);
    if (rows.front().time < last_day) result.test_from_ = RowMoment{last_day, 0};
  }
  const auto test_begin =
      result.test_from_ ? std::lower_bound(rows.begin(), rows.end(), *result.test_from_) : rows.end();
  const auto others = static_cast<std::size_t>(test_begin - rows.begin());
  const auto validating = static_cast<std::size_t>(static_cast<double>(others) * validation_share);
  if (validating > 0) result.validation_from_ = rows[others - validating];
  return result;
}

Split TimeSplit::of(const RowMoment& row) const {
  if (test_from_ && !(row < *test_from_)) return Split::test;
  if (validation_from_ && !(row < *validation_from_)) return Split::validation;
  return fixed_;
}

}  // namespace sotto::data
