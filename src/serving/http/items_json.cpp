#include "serving/http/items_json.h"

#include <limits>

#include "serving/http/json_fields.h"

namespace sotto::serving {

namespace {

using nlohmann::json;

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
  return item;
}

}  // namespace

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
