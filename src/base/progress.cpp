#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/log_lines.h"

namespace sotto {

namespace {

std::string duration(double seconds) {
  // Beyond a hundred days the digits say nothing any more.
  const auto whole = static_cast<std::uint64_t>(std::clamp(std::round(seconds), 0.0, 8'640'000.0));
  const auto hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest)
                   : fmt::format("{}:{:02}", minutes, rest);
}

std::string with_unit(std::string text, std::string_view unit) {
  if (!unit.empty()) text += fmt::format(" {}", unit);
  return text;
}

std::string count(const ProgressState& state) {
  if (state.total == 0) return with_unit(fmt::format("{}", state.done), state.unit);
  return with_unit(fmt::format("{}/{}", state.done, state.total), state.unit);
}

double rate(const ProgressState& state) {
  return state.seconds > 0 ? static_cast<double>(state.done) / state.seconds : 0.0;
}

// Three digits are enough to read and too few to flicker.
std::string rate_text(const ProgressState& state) {
  const double value = rate(state);
  const std::string number = value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  return with_unit(number, state.unit) + "/s";
}

std::string time_text(const ProgressState& state) {
  if (state.finished) return "in " + duration(state.seconds);
  const double per_second = rate(state);
  if (state.total == 0 || per_second <= 0) return duration(state.seconds);
  const std::uint64_t left = state.total - std::min(state.done, state.total);
  return "ETA " + duration(static_cast<double>(left) / per_second);
}

int percent(const ProgressState& state) {
  const double share = static_cast<double>(state.done) / static_cast<double>(state.total);
  return static_cast<int>(std::clamp(std::floor(100 * share), 0.0, 100.0));
}

// Columns, as far as code points tell.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xC0') != '\x80'; }));
}

std::string cut(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if ((text[end] & '\xC0') != '\x80' && seen++ == width) break;
  }
  return std::string(text.substr(0, end));
}

}  // namespace

std::string progress_line(const ProgressState& state) {
  std::string line = fmt::format("{}: {}", state.label, count(state));
  if (state.total > 0) line += fmt::format(" ({}%)", percent(state));
  line += fmt::format(", {}, {}", rate_text(state), time_text(state));
  if (!state.note.empty()) line += fmt::format(", {}", state.note);
  return line;
}

std::string progress_bar(const ProgressState& state, std::size_t width) {
  std::string head(state.label);
  if (state.total > 0) head += fmt::format(" {:3}%", percent(state));
  std::string tail;
  for (const std::string& part :
       {count(state), rate_text(state), time_text(state), std::string(state.note)}) {
    if (part.empty()) continue;
    if (columns(head) + columns(tail) + 2 + columns(part) > width) break;
    tail += "  " + part;
  }
  const std::size_t used = columns(head) + columns(tail);
  constexpr std::size_t frame = 3, shortest = 5, longest = 40;  // frame: the space and the brackets
  if (state.total > 0 && used + frame + shortest <= width) {
    const std::size_t length = std::min(longest, width - used - frame);
    const std::size_t filled = length * static_cast<std::size_t>(percent(state)) / 100;
    head += fmt::format(" [{:#<{}}{:-<{}}]", "", filled, "", length - filled);
  }
  return cut(head + tail, width);
}

namespace {

using std::chrono::steady_clock;

std::atomic<ProgressStyle> process_style{ProgressStyle::automatic};

// Work inside other work has the line while it lasts: of all that are under way the newest is shown.
class UnderWay {
 public:
  void add(const Progress* one) {
    const std::lock_guard lock(mutex_);
    all_.push_back(one);
  }
  void remove(const Progress* one) {
    const std::lock_guard lock(mutex_);
    std::erase(all_, one);
  }
  bool is_shown(const Progress* one) {
    const std::lock_guard lock(mutex_);
    return all_.empty() || all_.back() == one;
  }
  bool has_others() {
    const std::lock_guard lock(mutex_);
    return all_.size() > 1;
  }

 private:
  std::mutex mutex_;
  std::vector<const Progress*> all_;
};

UnderWay& under_way() {
  static UnderWay all;
  return all;
}

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
bool progress_is_shown() { return current_style() != ProgressStyle::silent; }

Progress::Progress(std::string label, std::uint64_t total, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      start_(steady_clock::now()),
      style_(current_style()) {
  // A bar shows at once, a log hears of work that takes a while.
  if (style_ == ProgressStyle::lines) next_draw_ = interval(style_);
  under_way().add(this);
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
  // Work that was refused before it began has nothing to tell, nor has a short part of other work.
  const bool part = under_way().has_others();
  if (drawn_ || (done_ > 0 && !part)) draw(true);
  finished_ = true;
  under_way().remove(this);
}

// The common case costs one look at the clock; whoever finds the display due but busy leaves it to the other.
void Progress::draw_when_due() {
  if (style_ == ProgressStyle::silent) return;
  if (steady_clock::now() - start_ < next_draw_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && !finished_) draw(false);
}

void Progress::draw(bool last) {
  if (style_ == ProgressStyle::silent || !under_way().is_shown(this)) return;
  const auto elapsed = steady_clock::now() - start_;
  next_draw_ = elapsed + interval(style_);
  const ProgressState state{
      label_, unit_, note_, done_, total_, std::chrono::duration<double>(elapsed).count(), last};
  std::string text;
  if (style_ == ProgressStyle::bar) {
    // One column stays free: writing into the last one makes some terminals wrap.
    // The bar of a part leaves its line to the work around it.
    text = last && under_way().has_others()
               ? "\r\x1b[K"
               : "\r" + progress_bar(state, terminal_width() - 1) + "\x1b[K" + (last ? "\n" : "");
  } else if (log_lines() == LogLines::json) {
    text = json_log_line(std::chrono::system_clock::now(), LogLevel::info, progress_line(state));
  } else {
    text = progress_line(state) + "\n";
  }
  drawn_ = true;
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sotto
