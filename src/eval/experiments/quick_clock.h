#pragma once
// What makes a quick experiment quick on any data: two minutes, shared by the rows that still have to run.

#include <cstddef>
#include <functional>
#include <string_view>

namespace sotto::eval {

// What every report of a quick experiment says.
inline constexpr std::string_view quick_clock_note =
    "rows that its two minutes cut short depend on the machine";

// Seconds since some moment, never decreasing.
using Seconds = std::function<double()>;
Seconds steady_seconds();

// Starts when it is made. A row gets the time that is left, divided by the rows that are left, and may train
// for three quarters of it: the last quarter is for its test. What a row does not need goes to those behind
// it. Training ends at its next round when that is spent, so that a row has one round at least; a row that
// finds no time at all is left to the next call.
class QuickClock {
 public:
  static constexpr double seconds_in_all = 120;

  // share: of the two minutes, for callers that have more to do than rows.
  explicit QuickClock(Seconds now, double share = 1);
  bool is_over() const { return now_() >= end_; }
  // To be asked between two rounds of the row that begins now; rows_left counts it.
  std::function<bool()> training_of_one_of(std::size_t rows_left) const;

 private:
  Seconds now_;
  double end_;
};

}  // namespace sotto::eval
