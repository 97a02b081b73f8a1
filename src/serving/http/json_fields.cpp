#include "serving/http/json_fields.h"

#include <algorithm>
#include <cmath>

namespace sotto::serving {

using nlohmann::json;

Result<json> read_object(std::string_view body) {
  constexpr int most_levels = 8;  // deeper ones are hostile, and the parser recurses on destruction
  bool too_deep = false;
  const auto limit = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > most_levels;
    return depth <= most_levels;
  };
  json object = json::parse(body.begin(), body.end(), limit, false);
  if (too_deep) return bad_input("the body is nested more than {} levels deep", most_levels);
  if (object.is_discarded()) return bad_input("the body is not valid JSON");
  if (!object.is_object()) return bad_input("the body must be a JSON object");
  return object;
}

Status check_names(const json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return bad_input("a name is not known here; known are: {}", fmt::join(known, ", "));
    }
  }
  return {};
}

Result<std::string> read_text(const json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return std::string();
  if (!at->is_string()) return bad_input("{} must be a text", name);
  return at->get<std::string>();
}

Result<std::uint64_t> read_whole(const json& object, const char* name, std::uint64_t absent) {
  const auto at = object.find(name);
  if (at == object.end()) return absent;
  if (!at->is_number_unsigned()) return bad_input("{} must be a whole number of at least 0", name);
  return at->get<std::uint64_t>();
}

Result<std::vector<float>> read_numbers(const json& object, const char* name, std::size_t most) {
  const auto at = object.find(name);
  if (at == object.end()) return std::vector<float>();
  if (!at->is_array() || at->size() > most)
    return bad_input("{} must be a list of at most {} numbers", name, most);
  std::vector<float> numbers;
  numbers.reserve(at->size());
  for (const json& number : *at) {
    if (!number.is_number()) return bad_input("{} must be a list of numbers", name);
    const auto value = number.get<double>();
    if (!(std::abs(value) <= 3e38)) return bad_input("{} must hold finite numbers", name);
    numbers.push_back(static_cast<float>(value));
  }
  return numbers;
}

}  // namespace sotto::serving
