#pragma once
// What was drawn and may now be sent as often as wanted: everything in it is noise-protected or public.

#include <string>
#include <string_view>

#include "privacy/serving/serving_mechanism.h"

namespace sotto {

struct DrawnQuery {
  std::string model;  // version whose basis or prototypes it refers to
  ServingQuery answer;
  bool operator==(const DrawnQuery&) const = default;
};

// As an answer cache keeps it.
std::string encode(const DrawnQuery& query);
Result<DrawnQuery> decode_drawn_query(std::string_view bytes);

}  // namespace sotto
