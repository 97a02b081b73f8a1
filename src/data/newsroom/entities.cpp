#include "data/newsroom/entities.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <unordered_set>

#include "base/distributions.h"
#include "data/newsroom/vocabulary.h"

namespace sotto::newsroom {
namespace {

// Rounds of the newsroom_world streams.
constexpr std::uint32_t names_round = 1, category_round = 2, theme_round = 3, entity_round = 4;

constexpr std::uint64_t first_wikidata_number = 900'000'001;  // far above the real ones

constexpr double category_part = 0.5, theme_part = 0.8, noise_part = 0.6;

const std::string& pick(const std::vector<std::string>& words, RandomSource& random) {
  return words[uniform_below(random, words.size())];
}

std::string draw_label(char type, RandomSource& random) {
  static constexpr std::string_view organisations[] = {"Group", "Institute",  "Union",
                                                       "Trust", "Collective", "Partners"};
  static constexpr std::string_view places[] = {"Bay", "Valley", "Heights", "Park", "Hill", "Springs"};
  const CommonWords& words = common_words();
  const std::string name = pick(words.name_beginnings, random) + pick(words.name_endings, random);
  switch (type) {
    case 'O':
      return fmt::format("{} {}", name, organisations[uniform_below(random, std::size(organisations))]);
    case 'G':
      return fmt::format("{} {}", name, places[uniform_below(random, std::size(places))]);
    default:
      return fmt::format("{} {}", pick(words.given_names, random), name);
  }
}

// A random direction of expected length `scale`.
void add_direction(std::vector<double>& vector, double scale, SeededRandom random) {
  for (double& value : vector)
    value += scale * normal(random) / std::sqrt(static_cast<double>(entity_dimension));
}

}  // namespace

std::vector<Entity> make_entities(const std::vector<Theme>& themes, std::uint64_t seed) {
  static constexpr char types[entities_per_theme] = {'P', 'O', 'P', 'G', 'P', 'O', 'P', 'G'};
  SeededRandom random(seed, Purpose::newsroom_world, names_round);
  std::unordered_set<std::string> used;
  std::vector<Entity> entities;
  entities.reserve(themes.size() * entities_per_theme);
  for (std::uint32_t theme = 0; theme < themes.size(); ++theme)
    for (const char type : types) {
      std::string label = draw_label(type, random);
      // With very many themes names run out; a number keeps them apart.
      for (int tries = 0; used.contains(label); ++tries)
        label = tries < 20 ? draw_label(type, random)
                           : fmt::format("{} {}", draw_label(type, random), entities.size());
      used.insert(label);
      entities.push_back({fmt::format("Q{}", first_wikidata_number + entities.size()), label, type, theme});
    }
  return entities;
}

std::vector<float> make_entity_vectors(const std::vector<Entity>& entities, const std::vector<Theme>& themes,
                                       std::size_t categories, std::uint64_t seed) {
  const auto directions = [&](std::size_t count, std::uint32_t round, double scale) {
    std::vector<std::vector<double>> result(count, std::vector<double>(entity_dimension, 0.0));
    for (std::uint32_t i = 0; i < count; ++i)
      add_direction(result[i], scale, SeededRandom(seed, Purpose::newsroom_world, round, i));
    return result;
  };
  const auto of_category = directions(categories, category_round, category_part);
  const auto of_theme = directions(themes.size(), theme_round, theme_part);
  auto vectors = directions(entities.size(), entity_round, noise_part);
  std::vector<float> result;
  result.reserve(entities.size() * entity_dimension);
  for (std::size_t e = 0; e < entities.size(); ++e) {
    const std::uint32_t theme = entities[e].theme;
    double squares = 0;
    for (std::size_t i = 0; i < entity_dimension; ++i) {
      vectors[e][i] += of_category[themes[theme].category][i] + of_theme[theme][i];
      squares += vectors[e][i] * vectors[e][i];
    }
    for (const double value : vectors[e]) result.push_back(static_cast<float>(value / std::sqrt(squares)));
  }
  return result;
}

}  // namespace sotto::newsroom
