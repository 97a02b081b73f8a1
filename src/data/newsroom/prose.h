#pragma once
// Writes titles and abstracts: sentence patterns whose gaps are filled with words of the item's themes, of
// its category, and of every day. Words stray: now and then one of another theme slips in.

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/newsroom/world.h"

namespace sotto::data::newsroom {

// Made-up people, organisations and places. Each belongs to a theme, and its vector says so.

constexpr std::uint32_t entities_per_theme = 8;

// Entities of theme t are [t * entities_per_theme, (t + 1) * entities_per_theme). Labels and ids are unique.
std::vector<Entity> make_entities(const std::vector<Theme>& themes, std::uint64_t seed);

// entities x entity_dimension: direction of the category + direction of the theme + noise, of length 1.
std::vector<float> make_entity_vectors(const std::vector<Entity>& entities, const std::vector<Theme>& themes,
                                       std::size_t categories, std::uint64_t seed);

// Refers to the world it writes about; safe to share between threads.
class Prose {
 public:
  Prose(const World& world, double vague_titles) : world_(world), vague_titles_(vague_titles) {}

  // Writes title and abstract of an item; a title that is there already stays as it is.
  void write(const Item& item, RandomSource& random, ItemText& text) const;

 private:
  class Sentence;
  const World& world_;
  double vague_titles_;
};

}  // namespace sotto::data::newsroom
