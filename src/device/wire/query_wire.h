#pragma once
// The bodies of /v1/recommend as FlatBuffers, both directions. Readers check everything: bytes come from
// anywhere.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/query/query_mechanism.h"

namespace sotto::device {

struct RecommendRequest {
  std::string model;
  privacy::ServingQuery query;
  std::uint32_t count = 0;
  // What the reader asked for on the page, never derived from the history.
  std::vector<std::string> categories;
  std::uint64_t published_after = 0;  // seconds since 1970; 0: any
  std::string language;
  bool operator==(const RecommendRequest&) const = default;
};

struct RecommendAnswer {
  std::string model;
  std::vector<std::string> items;  // ids, best first
  std::vector<float> scores;
  bool operator==(const RecommendAnswer&) const = default;
};

struct WireLimits {
  static constexpr std::size_t request_bytes = std::size_t{64} << 10;
  static constexpr std::size_t answer_bytes = std::size_t{64} << 20;
  static constexpr std::uint32_t count = 100'000;  // items in an answer
  static constexpr std::size_t coefficients = 1024;
  static constexpr std::size_t prototypes = 64;
  static constexpr std::size_t mechanism_bytes = std::size_t{32} << 10;
  static constexpr std::size_t categories = 64;
  static constexpr std::size_t name_bytes = 128;
};

// Coefficients must be finite, not negative and sum to 1 (within rounding); names short and printable.
Status check(const RecommendRequest& request);

std::string encode(const RecommendRequest& request);
Result<RecommendRequest> decode_recommend_request(std::string_view bytes);
std::string encode(const RecommendAnswer& answer);
Result<RecommendAnswer> decode_recommend_answer(std::string_view bytes);

RecommendRequest request_of(const DrawnQuery& query, std::uint32_t count);

}  // namespace sotto::device
