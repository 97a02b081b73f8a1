#pragma once
// How lines of the log look: for people, or one JSON object each for whoever collects them. Says what
// happened and when; whoever calls the log (base/log.h) names nobody.

#include <chrono>
#include <string>
#include <string_view>

#include "base/log.h"

namespace sotto {

enum class LogLines { text, json };
// Process-wide, at any time; also of progress in a log and of what a command ends with.
void set_log_lines(LogLines lines);
LogLines log_lines();

// {"time":"2026-03-01T06:30:00.250Z","level":"warning","message":"…"} and the end of the line.
std::string json_log_line(std::chrono::system_clock::time_point time, LogLevel level, std::string_view text);

}  // namespace sotto
