#pragma once
// Counts of a round as people read them.

#include <nlohmann/json.hpp>

#include "coordinator/rooms/round_desk.h"

namespace sotto::coordinator {

nlohmann::json json_of(const DeskCounts& counts);
// Bytes that are no text (of what devices or stores have said) are replaced.
std::string text_of(const nlohmann::json& body);

}  // namespace sotto::coordinator
