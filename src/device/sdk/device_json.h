#pragma once
// What a device has to say, as JSON: for its person (export) and for programs in other languages (C).

#include <nlohmann/json_fwd.hpp>

#include "device/device.h"

namespace sotto::device {

nlohmann::json to_json(const ConsentTerms& terms);
nlohmann::json to_json(const Consent& consent);
nlohmann::json to_json(const Recommendations& page);
nlohmann::json to_json(const Participation& part);
// Oldest first.
nlohmann::json to_json(const std::vector<LabelChange>& changes);
// What a person may want to know of a campaign before agreeing.
nlohmann::json to_json(const rounds::Campaign& campaign);

// One line; what is no UTF-8 is replaced.
std::string to_line(const nlohmann::json& value);

}  // namespace sotto::device
