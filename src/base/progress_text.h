#pragma once
// The words of a progress display, apart from clocks and terminals so that tests can pin them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sotto {

struct ProgressState {
  std::string_view label, unit, note;
  std::uint64_t done = 0, total = 0;  // total 0: unknown
  double seconds = 0;
  bool finished = false;
};

// "label: 450/1000 users (45%), 90 users/s, ETA 0:06, note"
std::string progress_line(const ProgressState& state);

// "label  45% [####-----] 450/1000 users  90 users/s  ETA 0:06  note", at most `width` columns: on a narrow
// terminal the bar goes first, then the parts from the right; the rest is cut.
std::string progress_bar(const ProgressState& state, std::size_t width);

}  // namespace sotto
