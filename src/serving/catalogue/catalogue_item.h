#pragma once
// One article of the live pool, as it is told to the server and as it is kept.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto::serving {

struct CatalogueItem {
  std::string id, title, abstract, category, subcategory, language;
  std::int64_t published = 0;  // seconds since 1970
  std::vector<float> vector;   // as the model of that version encodes the item
  std::string encoded_by;      // that version
  bool operator==(const CatalogueItem&) const = default;
};

// Valid texts of bearable length, a time within 1970 and 2106, finite numbers.
Status check_item(const CatalogueItem& item);
Status check_item_id(std::string_view id);

constexpr std::size_t most_id_bytes = 128;
constexpr std::size_t most_title_bytes = 4096;
constexpr std::size_t most_abstract_bytes = 32'768;
constexpr std::size_t most_name_bytes = 128;  // of a (sub)category, a language, a version
constexpr std::size_t most_vector_numbers = 4096;
// Of item vectors and of the directions they are multiplied with: no sum of products can then leave the range
// that an index takes.
constexpr float largest_vector_number = 1e6F;
Status check_vector(std::span<const float> vector);

// What one record of the log says.
struct CatalogueRecord {
  enum class Kind : std::uint8_t { put = 1, remove = 2 };
  Kind kind = Kind::put;
  CatalogueItem item;  // of a removal: only the id
};

std::string encode_put(const CatalogueItem& item);
std::string encode_remove(std::string_view id);
Result<CatalogueRecord> decode_record(std::string_view body);

}  // namespace sotto::serving
