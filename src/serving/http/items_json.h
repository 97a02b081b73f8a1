#pragma once
// The body of PUT /v1/items:
//
//   {"items": [{"id": "n1", "title": "...", "abstract": "...", "category": "sports", "subcategory": "tennis",
//               "language": "en", "published": 1700000000, "vector": [...], "encoded_by": "v1"}]}
//
// vector and encoded_by, the model version that made it, may be left out where the server has an encoder.

#include <string_view>
#include <vector>

#include "serving/catalogue/catalogue_item.h"

namespace sotto::serving {

constexpr std::size_t most_items_at_once = 1000;

Result<std::vector<CatalogueItem>> decode_items_json(std::string_view body);

}  // namespace sotto::serving
