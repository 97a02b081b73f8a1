#pragma once
// Human text goes to stderr through these; stdout is kept for results.

#include <spdlog/spdlog.h>

#include <string_view>

#include "base/result.h"

namespace sotto {

namespace log_setup {
bool use_stderr();
// Before main(), and whoever includes this header: spdlog on its own would write to stdout.
inline const bool ready = use_stderr();
}  // namespace log_setup

// level: trace, debug, info, warn, error, off. Plain "message" lines for info on a terminal, timestamps in a
// log.
Status set_log_level(std::string_view level);

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

}  // namespace sotto
