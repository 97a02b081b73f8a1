#pragma once
// News whose titles come from a file. Accepted lines, told apart one by one:
//   {"raw": "the headline", "label": 7}      JSON; the label, a number or a word, is the category
//   category<TAB>headline
//   headline                                 all of category "news"
// The file may be compressed. Themes are found in the text.

#include <cstdint>
#include <span>
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

// Finds themes in headlines: groups of words that occur together, inside each category. A headline is about
// the theme whose words it uses, so the text stays as informative as the text is.

struct FoundThemes {
  std::vector<Theme> themes;    // with demand = share of the headlines, and their typical words
  std::vector<ThemeMix> mixes;  // one per headline
};

// Spherical k-means on TF-IDF weights of the words, within each category. Left out are words of one headline
// only, and words of more than 1 % of the headlines unless one category uses them far more than the others.
// category_of: below `categories`, each of which occurs. Deterministic for a seed.
FoundThemes find_themes(std::span<const std::string> titles, std::span<const std::uint32_t> category_of,
                        std::uint32_t categories, std::uint64_t seed);

}  // namespace sotto::data::newsroom
