#pragma once
// Human text goes to stderr through these; stdout is kept for results. The logging library stays behind this
// header: PyTorch brings another version of fmt, which must not meet it in one file.

#include <string_view>
#include <utility>

#include "base/result.h"

namespace sotto {

enum class LogLevel { trace, debug, info, warn, error };

void log_message(LogLevel level, std::string_view text);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::warn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

// level: trace, debug, info, warn, error, off. Plain "message" lines for info on a terminal, timestamps in a
// log.
Status set_log_level(std::string_view level);

namespace log_setup {
// Looks at stderr again: a terminal or a log?
void use_stderr();
}  // namespace log_setup

}  // namespace sotto
