#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/log_lines.h"
#include "base/settings.h"

namespace sotto {

namespace {

// %* in the pattern: nothing for news, a word for what needs attention.
class SeverityPrefix final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view prefix;
    if (message.level == spdlog::level::warn) prefix = "warning: ";
    if (message.level >= spdlog::level::err) prefix = "error: ";
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<SeverityPrefix>(); }
};

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
      return LogLevel::trace;
    case spdlog::level::debug:
      return LogLevel::debug;
    case spdlog::level::info:
      return LogLevel::info;
    case spdlog::level::warn:
      return LogLevel::warn;
    default:
      return LogLevel::error;
  }
}

class JsonLine final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string line = json_log_line(message.time, level_of(message.level),
                                           {message.payload.data(), message.payload.size()});
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonLine>(); }
};

std::atomic<LogLines> process_lines{LogLines::text};

}  // namespace

namespace log_setup {

void use_stderr() {
  auto logger = std::make_shared<spdlog::logger>("sotto", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (process_lines == LogLines::json) {
    logger->set_formatter(std::make_unique<JsonLine>());
  } else {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    if (::isatty(STDERR_FILENO) != 0) {
      // Erases a progress bar that stands on the line; the bar draws itself again.
      formatter->add_flag<SeverityPrefix>('*').set_pattern("\r\x1b[K%*%v");
    } else {
      formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    }
    logger->set_formatter(std::move(formatter));
  }
  logger->set_level(spdlog::get_level());
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace log_setup

namespace {

// spdlog on its own would write to stdout.
void ensure_ready() {
  static std::once_flag once;
  std::call_once(once, log_setup::use_stderr);
}

}  // namespace

void log_message(LogLevel level, std::string_view text) {
  ensure_ready();
  constexpr spdlog::level::level_enum levels[] = {spdlog::level::trace, spdlog::level::debug,
                                                  spdlog::level::info, spdlog::level::warn,
                                                  spdlog::level::err};
  spdlog::log(levels[static_cast<int>(level)], spdlog::string_view_t(text.data(), text.size()));
}

void set_log_lines(LogLines lines) {
  ensure_ready();
  process_lines = lines;
  log_setup::use_stderr();
}

LogLines log_lines() { return process_lines; }

std::string json_log_line(std::chrono::system_clock::time_point time, LogLevel level, std::string_view text) {
  constexpr std::string_view names[] = {"trace", "debug", "info", "warning", "error"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  // Written by hand so that the time comes first; the text may have any bytes.
  return fmt::format(
      "{{\"time\":\"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z\",\"level\":\"{}\",\"message\":{}}}\n",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      clock.hours().count(), clock.minutes().count(), clock.seconds().count(), clock.subseconds().count(),
      names[static_cast<int>(level)],
      nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Status set_log_level(std::string_view level) {
  ensure_ready();
  const std::vector<std::string> levels = {"trace", "debug", "info", "warn", "error", "off"};
  constexpr spdlog::level::level_enum values[] = {spdlog::level::trace, spdlog::level::debug,
                                                  spdlog::level::info,  spdlog::level::warn,
                                                  spdlog::level::err,   spdlog::level::off};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != level) continue;
    spdlog::set_level(values[i]);
    return {};
  }
  const auto near = nearest(level, levels);
  return bad_input("unknown log level '{}'; {}use one of {}", level,
                   near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(levels, ", "));
}

}  // namespace sotto
