#pragma once
// The built-in words of the newsroom: categories, the themes below them, and the words every desk shares.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::data::newsroom {

// Words a theme is written with, by their role in a sentence.
struct ThemeWords {
  std::vector<std::string> nouns, verbs, adjectives;
};

struct CategoryWords {
  std::string name;
  std::vector<std::string> nouns;          // used by all themes of the category
  std::vector<std::string> subcategories;  // fewer than themes: a subcategory is not a theme
  std::vector<ThemeWords> themes;
};

// Words that carry no theme.
struct CommonWords {
  std::vector<std::string> nouns, verbs, adjectives, places, times, given_names, name_beginnings,
      name_endings;
};

// Built once on first use; safe to share between threads afterwards.
const std::vector<CategoryWords>& built_in_categories();
const CommonWords& common_words();

// One line per category and theme, the raw form of the above (vocabulary_words.cpp).
struct RawTheme {
  std::string_view nouns, verbs, adjectives;  // space-separated
};
struct RawCategory {
  std::string_view name, nouns, subcategories;
  std::array<RawTheme, 4> themes;
};
std::span<const RawCategory> raw_categories();

}  // namespace sotto::data::newsroom
