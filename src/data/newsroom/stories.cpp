#include "data/newsroom/stories.h"

#include <cmath>
#include <numeric>

#include "base/distributions.h"
#include "data/newsroom/reader.h"

namespace sotto::newsroom {
namespace {

constexpr double demand_offset = 4, demand_power = 1;  // demand of rank r: 1 / (r + 4)

constexpr double two_themes = 0.5;
constexpr double second_from_same_category = 0.2;
constexpr double least_primary_share = 0.6, most_primary_share = 0.85;

constexpr std::uint32_t demand_round = 0;  // of the newsroom_world streams

// A few large themes and a long tail, in an order that depends on the seed.
void set_demand(std::vector<Theme>& themes, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::newsroom_world, demand_round);
  std::vector<std::uint32_t> order(themes.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(std::span<std::uint32_t>(order), random);
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    themes[order[rank]].demand = std::pow(static_cast<double>(rank) + demand_offset, -demand_power);
}

std::uint32_t sibling_of(std::uint32_t theme, const std::vector<Theme>& themes, RandomSource& random) {
  std::vector<std::uint32_t> siblings;
  for (std::uint32_t other = 0; other < themes.size(); ++other)
    if (other != theme && themes[other].category == themes[theme].category) siblings.push_back(other);
  return siblings.empty() ? theme : siblings[uniform_below(random, siblings.size())];
}

ThemeMix draw_mix(const std::vector<Theme>& themes, const ThemeSampler& sampler, RandomSource& random) {
  ThemeMix mix;
  mix.primary = mix.secondary = sampler(random);
  if (!bernoulli(random, two_themes)) return mix;
  mix.secondary = bernoulli(random, second_from_same_category) ? sibling_of(mix.primary, themes, random)
                                                               : sampler(random);
  mix.primary_share = static_cast<float>(least_primary_share +
                                         (most_primary_share - least_primary_share) * uniform01(random));
  return mix;
}

}  // namespace

Desks built_in_desks(const NewsroomSettings& settings) {
  Desks desks;
  for (const CategoryWords& words : built_in_categories()) {
    const auto category = static_cast<std::uint32_t>(desks.categories.size());
    desks.categories.push_back({words.name, words.nouns, words.subcategories});
    for (const ThemeWords& theme : words.themes) desks.themes.push_back({category, 0, theme});
  }
  const auto seed = static_cast<std::uint64_t>(settings.seed);
  set_demand(desks.themes, seed);
  const ThemeSampler sampler(desks.themes);
  desks.stories.reserve(static_cast<std::size_t>(settings.news));
  for (std::uint32_t item = 0; item < static_cast<std::uint32_t>(settings.news); ++item) {
    SeededRandom random(seed, Purpose::newsroom_news, 0, item);
    desks.stories.push_back({draw_mix(desks.themes, sampler, random), ""});
  }
  return desks;
}

}  // namespace sotto::newsroom
