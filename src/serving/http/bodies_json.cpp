#include "serving/http/bodies_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

namespace sotto::serving {

namespace {

using nlohmann::json;

// Reading JSON from outside: every error says which name is wrong and what is expected.

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

// Standard alphabet with padding (RFC 4648); one text for one value: no line ends, no stray bits.
Result<std::string> read_base64(const json& object, const char* name) {
  SOTTO_TRY(const std::string text, read_text(object, name));
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  std::uint32_t bits = 0;
  std::size_t digit = 0;
  for (std::size_t i = 0; i + padding < text.size() && digit != std::string_view::npos; ++i) {
    digit = digits.find(text[i]);
    bits = bits << 6 | static_cast<std::uint32_t>(digit & 63);
    if (i % 4 != 0) bytes += static_cast<char>(bits >> (6 - i % 4 * 2) & 0xff);
  }
  const std::uint32_t stray = bits & ((std::uint32_t{1} << (2 * padding)) - 1);
  if (text.size() % 4 != 0 || digit == std::string_view::npos || stray != 0)
    return bad_input("{} must be base64 with its padding", name);
  return bytes;
}

Result<privacy::MechanismQuery> read_mechanism(const json& given) {
  if (!given.is_object()) return bad_input("mechanism must be an object of name and bytes");
  SOTTO_CHECK(check_names(given, {"name", "bytes"}));
  privacy::MechanismQuery own;
  SOTTO_TRY(own.mechanism, read_text(given, "name"));
  SOTTO_TRY(own.bytes, read_base64(given, "bytes"));
  return own;
}

Status read_query(const json& body, device::RecommendRequest& request) {
  const std::size_t kinds =
      body.count("coefficients") + body.count("prototypes") + body.count("popular") + body.count("mechanism");
  if (kinds != 1) return bad_input("name exactly one of coefficients, prototypes, popular and mechanism");
  if (body.contains("coefficients")) {
    SOTTO_TRY(request.query, read_numbers(body, "coefficients", device::WireLimits::coefficients));
  } else if (body.contains("prototypes")) {
    std::vector<std::uint32_t> prototypes;
    const json& given = body["prototypes"];
    if (!given.is_array() || given.size() > device::WireLimits::prototypes) {
      return bad_input("prototypes must be a list of at most {} numbers", device::WireLimits::prototypes);
    }
    for (const json& number : given) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > 0xffffffffU) {
        return bad_input("prototypes must be numbers from 0 on");
      }
      prototypes.push_back(number.get<std::uint32_t>());
    }
    request.query = std::move(prototypes);
  } else if (body.contains("mechanism")) {
    SOTTO_TRY(request.query, read_mechanism(body["mechanism"]));
  } else {
    if (body["popular"] != true) return bad_input("popular can only be true");
    request.query = privacy::PopularQuery{};
  }
  return {};
}

Status read_categories(const json& body, device::RecommendRequest& request) {
  const auto given = body.find("categories");
  if (given == body.end()) return {};
  if (!given->is_array() || given->size() > device::WireLimits::categories) {
    return bad_input("categories must be a list of at most {} names", device::WireLimits::categories);
  }
  for (const json& name : *given) {
    if (!name.is_string()) return bad_input("categories must be a list of names");
    request.categories.push_back(name.get<std::string>());
  }
  return {};
}

// Blanks and punctuation say nothing to a model; letters outside of ASCII are not told apart from signs.
bool has_words(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  });
}

Result<CatalogueItem> read_item(const json& given) {
  if (!given.is_object()) return bad_input("it must be an object");
  SOTTO_CHECK(check_names(given, {"id", "title", "abstract", "category", "subcategory", "language",
                                  "published", "vector", "encoded_by"}));
  CatalogueItem item;
  SOTTO_TRY(item.id, read_text(given, "id"));
  SOTTO_TRY(item.title, read_text(given, "title"));
  SOTTO_TRY(item.abstract, read_text(given, "abstract"));
  SOTTO_TRY(item.category, read_text(given, "category"));
  SOTTO_TRY(item.subcategory, read_text(given, "subcategory"));
  SOTTO_TRY(item.language, read_text(given, "language"));
  SOTTO_TRY(item.encoded_by, read_text(given, "encoded_by"));
  SOTTO_TRY(const std::uint64_t published, read_whole(given, "published", 0));
  if (published > std::numeric_limits<std::uint32_t>::max()) {
    return bad_input("published is {}: give seconds since 1970", published);
  }
  item.published = static_cast<std::int64_t>(published);
  SOTTO_TRY(item.vector, read_numbers(given, "vector", most_vector_numbers));
  if (item.vector.empty() != item.encoded_by.empty()) {
    return bad_input("give vector and encoded_by together, or neither");
  }
  SOTTO_CHECK(check_item(item));
  if (!has_words(item.title) && !has_words(item.abstract) && item.vector.empty())
    return bad_input("it has no title, no abstract and no vector: a model would have nothing to read");
  return item;
}

}  // namespace

Result<device::RecommendRequest> decode_recommend_json(std::string_view body) {
  SOTTO_TRY(const json object, read_object(body));
  SOTTO_CHECK(check_names(object, {"model", "coefficients", "prototypes", "popular", "mechanism", "count",
                                   "categories", "published_after", "language"}));
  device::RecommendRequest request;
  SOTTO_TRY(request.model, read_text(object, "model"));
  SOTTO_CHECK(read_query(object, request));
  SOTTO_TRY(const std::uint64_t count, read_whole(object, "count", default_count));
  if (count < 1 || count > device::WireLimits::count) {
    return bad_input("count is {}: ask for 1 to {}", count, device::WireLimits::count);
  }
  request.count = static_cast<std::uint32_t>(count);
  SOTTO_CHECK(read_categories(object, request));
  SOTTO_TRY(request.published_after, read_whole(object, "published_after", 0));
  SOTTO_TRY(request.language, read_text(object, "language"));
  SOTTO_CHECK(device::check(request));
  return request;
}

std::string encode_recommend_json(const device::RecommendAnswer& answer) {
  // Written by hand: a document of hundreds of small objects costs more than the search.
  std::string text = "{\"model\":" + json(answer.model).dump() + ",\"items\":[";
  for (std::size_t i = 0; i < answer.items.size(); ++i) {
    if (i > 0) text += ',';
    text += "{\"id\":";
    text += json(answer.items[i]).dump();
    fmt::format_to(std::back_inserter(text), ",\"score\":{}}}", answer.scores[i]);
  }
  text += "]}";
  return text;
}

Result<std::vector<CatalogueItem>> decode_items_json(std::string_view body) {
  SOTTO_TRY(const json object, read_object(body));
  SOTTO_CHECK(check_names(object, {"items"}));
  const auto given = object.find("items");
  if (given == object.end() || !given->is_array() || given->empty() || given->size() > most_items_at_once) {
    return bad_input("items must be a list of 1 to {}", most_items_at_once);
  }
  std::vector<CatalogueItem> items;
  for (const json& one : *given) {
    auto item = read_item(one);
    if (!item) return tl::unexpected(std::move(item).error().in(fmt::format("item {}", items.size())));
    items.push_back(std::move(*item));
  }
  return items;
}

}  // namespace sotto::serving
