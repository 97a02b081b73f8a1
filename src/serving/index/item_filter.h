#pragma once
// The public properties of an item that a query may ask for, and the question.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sotto::serving {

// Eight bytes beside the scores of a row. Codes are the catalogue's; the time is in seconds since 1970.
struct ItemTag {
  std::uint32_t published = 0;
  std::uint16_t category = 0;
  std::uint16_t language = 0;
  bool operator==(const ItemTag&) const = default;
};

// Lets an item through when every condition that is set holds. An empty list sets none.
struct ItemFilter {
  std::vector<std::uint16_t> categories;
  std::vector<std::uint16_t> languages;
  std::uint32_t published_from = 0;

  bool is_empty() const { return categories.empty() && languages.empty() && published_from == 0; }
  bool lets_through(const ItemTag& tag) const {
    return tag.published >= published_from && holds(categories, tag.category) &&
           holds(languages, tag.language);
  }

 private:
  static bool holds(const std::vector<std::uint16_t>& wanted, std::uint16_t code) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), code) != wanted.end();
  }
};

}  // namespace sotto::serving
