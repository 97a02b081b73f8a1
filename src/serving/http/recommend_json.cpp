#include "serving/http/recommend_json.h"

#include <nlohmann/json.hpp>

#include "serving/http/json_fields.h"

namespace sotto::serving {

namespace {

using nlohmann::json;

Status read_query(const json& body, RecommendRequest& request) {
  const std::size_t kinds = body.count("coefficients") + body.count("prototypes") + body.count("popular");
  if (kinds != 1) return bad_input("name exactly one of coefficients, prototypes and popular");
  if (body.contains("coefficients")) {
    SOTTO_TRY(request.query, read_numbers(body, "coefficients", WireLimits::coefficients));
  } else if (body.contains("prototypes")) {
    std::vector<std::uint32_t> prototypes;
    const json& given = body["prototypes"];
    if (!given.is_array() || given.size() > WireLimits::prototypes) {
      return bad_input("prototypes must be a list of at most {} numbers", WireLimits::prototypes);
    }
    for (const json& number : given) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > 0xffffffffU) {
        return bad_input("prototypes must be numbers from 0 on");
      }
      prototypes.push_back(number.get<std::uint32_t>());
    }
    request.query = std::move(prototypes);
  } else {
    if (body["popular"] != true) return bad_input("popular can only be true");
    request.query = PopularQuery{};
  }
  return {};
}

Status read_categories(const json& body, RecommendRequest& request) {
  const auto given = body.find("categories");
  if (given == body.end()) return {};
  if (!given->is_array() || given->size() > WireLimits::categories) {
    return bad_input("categories must be a list of at most {} names", WireLimits::categories);
  }
  for (const json& name : *given) {
    if (!name.is_string()) return bad_input("categories must be a list of names");
    request.categories.push_back(name.get<std::string>());
  }
  return {};
}

}  // namespace

Result<RecommendRequest> decode_recommend_json(std::string_view body) {
  SOTTO_TRY(const json object, read_object(body));
  SOTTO_CHECK(check_names(object, {"model", "coefficients", "prototypes", "popular", "count", "categories",
                                   "published_after", "language"}));
  RecommendRequest request;
  SOTTO_TRY(request.model, read_text(object, "model"));
  SOTTO_CHECK(read_query(object, request));
  SOTTO_TRY(const std::uint64_t count, read_whole(object, "count", default_count));
  if (count < 1 || count > WireLimits::count) {
    return bad_input("count is {}: ask for 1 to {}", count, WireLimits::count);
  }
  request.count = static_cast<std::uint32_t>(count);
  SOTTO_CHECK(read_categories(object, request));
  SOTTO_TRY(request.published_after, read_whole(object, "published_after", 0));
  SOTTO_TRY(request.language, read_text(object, "language"));
  SOTTO_CHECK(check(request));
  return request;
}

std::string encode_recommend_json(const RecommendAnswer& answer) {
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

}  // namespace sotto::serving
