#pragma once
// The JSON bodies, for people; proto/serving.fbs is the same for devices. Unknown names are errors.
//
//   POST /v1/recommend
//   {"model": "v1", "coefficients": [0.2, 0.8], "count": 10}
//   {"model": "v1", "prototypes": [17], "categories": ["sports"], "language": "en", "published_after":
//   1700000000}
//   {"model": "v1", "popular": true}
//   {"model": "v1", "mechanism": {"name": "sketch", "bytes": "AAEC"}}  any other of the table; base64
//   -> {"model": "v1", "items": [{"id": "n1", "score": 0.7}, ...]}
//
//   PUT /v1/items
//   {"items": [{"id": "n1", "title": "...", "abstract": "...", "category": "sports", "subcategory": "tennis",
//               "language": "en", "published": 1700000000, "vector": [...], "encoded_by": "v1"}]}
//
// vector and encoded_by, the model version that made it, may be left out where the server has an encoder.

#include <string>
#include <string_view>
#include <vector>

#include "device/wire/query_wire.h"
#include "serving/catalogue/catalogue_item.h"

namespace sotto::serving {

constexpr std::uint32_t default_count = 10;
constexpr std::size_t most_items_at_once = 1000;

// Checks everything that RecommendRequest promises.
Result<device::RecommendRequest> decode_recommend_json(std::string_view body);
std::string encode_recommend_json(const device::RecommendAnswer& answer);

Result<std::vector<CatalogueItem>> decode_items_json(std::string_view body);

}  // namespace sotto::serving
