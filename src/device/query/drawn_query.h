#pragma once
// What was drawn and may now be sent as often as wanted: everything in it is noise-protected or public.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sotto {

struct DrawnQuery {
  std::string model;  // version whose basis or prototypes it refers to
  // Weights of the basis vectors, non-negative with sum 1; or the number of a prototype.
  std::variant<std::vector<float>, std::uint32_t> answer;
  bool operator==(const DrawnQuery&) const = default;
};

// As an answer cache keeps it.
std::string encode(const DrawnQuery& query);
Result<DrawnQuery> decode_drawn_query(std::string_view bytes);

}  // namespace sotto
