#pragma once
// Finds themes in headlines: groups of words that occur together, inside each category. A headline is about
// the theme whose words it uses, so the text stays as informative as the text is.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/newsroom/world.h"

namespace sotto::data::newsroom {

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
