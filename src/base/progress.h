#pragma once
// Progress to stderr: a bar with rate and ETA on a terminal, a plain line every few seconds in a log, nothing
// when quiet. While a part of other work has its own, that one is shown. Thread-safe advance().

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace sotto {

// The words of a progress display, apart from clocks and terminals so that tests can pin them.

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

enum class ProgressStyle { automatic, bar, lines, silent };
void set_progress_style(ProgressStyle style);  // process-wide; automatic looks at stderr
bool progress_is_shown();                      // unless it is silent

class Progress {
 public:
  // total 0: unknown, shows a count and a rate only.
  Progress(std::string label, std::uint64_t total, std::string unit = "");
  ~Progress();  // finish()
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t by = 1);
  void set(std::uint64_t done);
  void note(std::string text);  // shown behind the bar, for example "auc 61.2"
  void finish();

 private:
  void draw_when_due();
  void draw(bool last);  // holds mutex_

  std::string label_, unit_, note_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::chrono::steady_clock::duration> next_draw_{};  // since start_
  std::mutex mutex_;
  ProgressStyle style_;
  bool drawn_ = false, finished_ = false;
};

}  // namespace sotto
