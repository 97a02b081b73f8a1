#pragma once
// Reading JSON from outside: every error says which name is wrong and what is expected. Brings the JSON
// library: for .cpp files only.

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto::serving {

Result<nlohmann::json> read_object(std::string_view body);
// Each name of the object is one of these.
Status check_names(const nlohmann::json& object, std::initializer_list<std::string_view> known);
Result<std::string> read_text(const nlohmann::json& object, const char* name);  // "" when absent
Result<std::uint64_t> read_whole(const nlohmann::json& object, const char* name, std::uint64_t absent);
Result<std::vector<float>> read_numbers(const nlohmann::json& object, const char* name, std::size_t most);

}  // namespace sotto::serving
