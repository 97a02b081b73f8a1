#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/progress_text.h"

namespace sotto {

namespace {

using std::chrono::steady_clock;

std::atomic<ProgressStyle> process_style{ProgressStyle::automatic};

ProgressStyle current_style() {
  const ProgressStyle style = process_style;
  if (style != ProgressStyle::automatic) return style;
  return ::isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
}

steady_clock::duration interval(ProgressStyle style) {
  return style == ProgressStyle::bar ? steady_clock::duration(std::chrono::milliseconds(100))
                                     : steady_clock::duration(std::chrono::seconds(5));
}

std::size_t terminal_width() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

void set_progress_style(ProgressStyle style) { process_style = style; }

Progress::Progress(std::string label, std::uint64_t total, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      start_(steady_clock::now()),
      style_(current_style()) {
  // A bar shows at once, a log hears of work that takes a while.
  if (style_ == ProgressStyle::lines) next_draw_ = interval(style_);
}

Progress::~Progress() { finish(); }

void Progress::advance(std::uint64_t by) {
  done_.fetch_add(by, std::memory_order_relaxed);
  draw_when_due();
}

void Progress::set(std::uint64_t done) {
  done_.store(done, std::memory_order_relaxed);
  draw_when_due();
}

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  // Work that was refused before it began has nothing to tell.
  if (drawn_ || done_ > 0) draw(true);
  finished_ = true;
}

// The common case costs one look at the clock; whoever finds the display due but busy leaves it to the other.
void Progress::draw_when_due() {
  if (style_ == ProgressStyle::silent) return;
  if (steady_clock::now() - start_ < next_draw_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && !finished_) draw(false);
}

void Progress::draw(bool last) {
  if (style_ == ProgressStyle::silent) return;
  const auto elapsed = steady_clock::now() - start_;
  next_draw_ = elapsed + interval(style_);
  const ProgressState state{
      label_, unit_, note_, done_, total_, std::chrono::duration<double>(elapsed).count(), last};
  std::string text;
  if (style_ == ProgressStyle::bar) {
    // One column stays free: writing into the last one makes some terminals wrap.
    text = "\r" + progress_bar(state, terminal_width() - 1) + "\x1b[K" + (last ? "\n" : "");
  } else {
    text = progress_line(state) + "\n";
  }
  drawn_ = true;
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sotto
