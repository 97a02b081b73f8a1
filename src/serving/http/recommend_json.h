#pragma once
// The bodies of /v1/recommend for people; proto/serving.fbs is the same for devices.
//
//   {"model": "v1", "coefficients": [0.2, 0.8], "count": 10}
//   {"model": "v1", "prototypes": [17], "categories": ["sports"], "language": "en", "published_after":
//   1700000000}
//   {"model": "v1", "popular": true}
//   -> {"model": "v1", "items": [{"id": "n1", "score": 0.7}, ...]}

#include <string>
#include <string_view>

#include "device/wire/query_wire.h"

namespace sotto::serving {

constexpr std::uint32_t default_count = 10;

// Checks everything that RecommendRequest promises; unknown names are errors.
Result<RecommendRequest> decode_recommend_json(std::string_view body);
std::string encode_recommend_json(const RecommendAnswer& answer);

}  // namespace sotto::serving
