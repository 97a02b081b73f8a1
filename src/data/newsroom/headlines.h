#pragma once
// News whose titles come from a file. Accepted lines, told apart one by one:
//   {"raw": "the headline", "label": 7}      JSON; the label, a number or a word, is the category
//   category<TAB>headline
//   headline                                 all of category "news"
// The file may be compressed. Themes are found in the text: see headline_themes.h.

#include <string>
#include <vector>

#include "base/result.h"
#include "data/newsroom/world.h"

namespace sotto::data::newsroom {

struct Headline {
  std::string category, title;
};

// All usable lines. Lines that are not UTF-8, have no headline or are not valid JSON are counted as
// malformed; more than 1 % of them is an error.
Result<std::vector<Headline>> read_headlines(const fs::path& file);

// As many stories as settings.news, drawn without replacement. A file with fewer headlines is an error.
Result<Desks> headline_desks(const NewsroomSettings& settings);

}  // namespace sotto::data::newsroom
