#pragma once

namespace sotto::metrics {

// Of every metric in files and events, which programs read; people read percent.
inline constexpr const char* unit_of_metrics = "share, 0 to 1";

}  // namespace sotto::metrics
