#pragma once
// One line of the Adressa log: a JSON object per page view.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sotto {

struct AdressaView {
  std::string user, article, title, category, subcategory, keywords;
  std::int64_t time = 0;
  std::optional<std::int64_t> published;
};

// Nothing for views of front pages and sections, which carry no article id. An error says what is wrong: no
// JSON object, no userId, no time.
Result<std::optional<AdressaView>> parse_adressa_line(std::string_view line);

}  // namespace sotto
