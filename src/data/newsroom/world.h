#pragma once
// What exists before anyone reads: categories, the themes below them, entities, and the news with their text.

#include <cstdint>
#include <string>
#include <vector>

#include "base/distributions.h"
#include "base/result.h"
#include "data/newsroom/settings.h"
#include "data/newsroom/vocabulary.h"

namespace sotto::data::newsroom {

// The newsroom's time: seconds since the midnight that opens the history period. Histories grow for two weeks
// before the first recorded day, as MIND's do before its recorded week.
using Seconds = std::int32_t;
constexpr Seconds seconds_per_day = 86'400;
constexpr int history_days = 10;
constexpr std::int64_t first_recorded_midnight = 1'709'510'400;  // Monday 4 March 2024, UTC

struct Calendar {
  int recorded_days;
  int test_day() const { return history_days + recorded_days - 1; }
  int all_days() const { return history_days + recorded_days; }
};

inline double days_between(Seconds from, Seconds to) {
  return static_cast<double>(to - from) / static_cast<double>(seconds_per_day);
}

// A moment of the given day between two hours, most often in the middle of them.
inline Seconds moment(RandomSource& random, int day, double from_hour, double to_hour) {
  const double hour = from_hour + (to_hour - from_hour) * (uniform01(random) + uniform01(random)) / 2;
  return day * seconds_per_day + static_cast<Seconds>(hour * 3600);
}

// Seconds since 1970.
inline std::int64_t unix_time(Seconds time) {
  return first_recorded_midnight + time - std::int64_t{history_days} * seconds_per_day;
}

// Appends the time as MIND writes it: 11/9/2019 6:42:51 PM.
void append_mind_time(std::string& out, Seconds time);

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

// Where news come from: the built-in desks, which invent what an item is about, or a headline file, whose
// lines bring their title along.
struct Story {
  ThemeMix mix;
  std::string title;  // empty: to be written
};

struct Desks {
  std::vector<Category> categories;
  std::vector<Theme> themes;
  std::vector<Story> stories;  // one per news item
};

// 17 categories with four themes each; stories drawn by the demand for themes.
Desks built_in_desks(const NewsroomSettings& settings);

}  // namespace sotto::data::newsroom
