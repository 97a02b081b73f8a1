#pragma once
// Where news come from: the built-in desks, which invent what an item is about, or a headline file, whose
// lines bring their title along.

#include <string>
#include <vector>

#include "data/newsroom/world.h"

namespace sotto::newsroom {

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

}  // namespace sotto::newsroom
