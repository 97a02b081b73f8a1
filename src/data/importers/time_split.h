#pragma once
// Which rows train, validate and test, decided by time: nobody learns from the future.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace sotto::data {

// When a row happened; rows of the same second are ordered by a hash of what they say, not by their place in
// the file.
struct RowMoment {
  std::int64_t time;
  std::uint64_t tie;
  bool operator<(const RowMoment& other) const {
    return time != other.time ? time < other.time : tie < other.tie;
  }
};

// Where testing starts: at a moment, on the last day (UTC) that the rows reach, or nowhere.
struct TestStart {
  enum class Kind { never, last_day, at_time };
  Kind kind = Kind::never;
  std::int64_t time = 0;  // for at_time
};
// "none", "last-day", or a time in ISO or American form.
Result<TestStart> parse_test_start(std::string_view text);

// A value: copy freely.
class TimeSplit {
 public:
  // Every row belongs to `split`.
  static TimeSplit all(Split split);
  // Rows from the test start on test; the last `validation_share` of the others validates; the rest trains.
  // The last day of rows that span one day only does not test: there would be nothing to learn from.
  static TimeSplit by_time(std::vector<RowMoment> rows, const TestStart& test_start, double validation_share);

  Split of(const RowMoment& row) const;
  // By how the cut was asked for, not by what the rows made of it.
  SplitOrigin origin() const { return origin_; }

 private:
  Split fixed_ = Split::train;
  SplitOrigin origin_ = SplitOrigin::public_or_own;
  std::optional<RowMoment> validation_from_, test_from_;
};

}  // namespace sotto::data
