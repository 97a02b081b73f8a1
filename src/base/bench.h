#pragma once
// What benchmarks share: one row of a comparison, and clocks. Ours and the baseline always run in the same
// process and give the same answer.

#include <time.h>

#include <string>

namespace sotto {

struct BenchRow {
  std::string name;
  double ours = 0;
  double baseline = 0;
  double ratio = 0;  // how many times better than the baseline
  std::string unit;
  std::string against;    // what the baseline is
  std::string goal = {};  // what was to be reached, in words; empty: nothing in particular
};

inline double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
inline double thread_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }
inline double wall_seconds() { return seconds_on(CLOCK_MONOTONIC); }

}  // namespace sotto
