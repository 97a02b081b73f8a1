#pragma once
// What exists before anyone reads: categories, the themes below them, entities, and the news with their text.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/newsroom/calendar.h"
#include "data/newsroom/settings.h"
#include "data/newsroom/vocabulary.h"

namespace sotto::newsroom {

struct Category {
  std::string name;
  std::vector<std::string> nouns, subcategories;
};

struct Theme {
  std::uint32_t category = 0;
  double demand = 0;  // share of interests that fall on this theme; also its share of the news
  ThemeWords words;
};

// A news item is about one or two themes. shares sum to 1; one theme: secondary == primary.
struct ThemeMix {
  std::uint32_t primary = 0, secondary = 0;
  float primary_share = 1;
};

struct Item {
  ThemeMix mix;
  std::uint32_t category = 0, subcategory = 0;
  float appeal = 0;
  Seconds published = 0;
};

struct Entity {
  std::string id, label;
  char type = 'P';  // MIND's letters: P person, O organisation, G place
  std::uint32_t theme = 0;
};

struct Mention {
  std::uint32_t entity = 0, offset = 0;  // offset in bytes of the text
};

struct ItemText {
  std::string title, abstract;
  std::vector<Mention> title_mentions, abstract_mentions;
};

constexpr std::size_t entity_dimension = 100;

// Immutable once built. Items are in the order of publication.
struct World {
  Calendar calendar{0};
  std::vector<Category> categories;
  std::vector<Theme> themes;
  std::vector<Entity> entities;
  std::vector<float> entity_vectors;  // entities x entity_dimension
  std::vector<Item> items;
  std::vector<ItemText> texts;  // one per item
};

// Errors only for a headline file that cannot be used.
Result<World> build_world(const NewsroomSettings& settings);

}  // namespace sotto::newsroom
