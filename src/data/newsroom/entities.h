#pragma once
// Made-up people, organisations and places. Each belongs to a theme, and its vector says so.

#include <cstdint>
#include <vector>

#include "data/newsroom/world.h"

namespace sotto::newsroom {

constexpr std::uint32_t entities_per_theme = 8;

// Entities of theme t are [t * entities_per_theme, (t + 1) * entities_per_theme). Labels and ids are unique.
std::vector<Entity> make_entities(const std::vector<Theme>& themes, std::uint64_t seed);

// entities x entity_dimension: direction of the category + direction of the theme + noise, of length 1.
std::vector<float> make_entity_vectors(const std::vector<Entity>& entities, const std::vector<Theme>& themes,
                                       std::size_t categories, std::uint64_t seed);

}  // namespace sotto::newsroom
