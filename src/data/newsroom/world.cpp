#include "data/newsroom/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/distributions.h"
#include "base/thread_pool.h"
#include "data/newsroom/headlines.h"
#include "data/newsroom/prose.h"
#include "data/newsroom/reader.h"

namespace sotto::data::newsroom {

void append_mind_time(std::string& out, Seconds time) {
  using namespace std::chrono;
  const sys_seconds moment{seconds{unix_time(time)}};
  const auto midnight = floor<days>(moment);
  const year_month_day date{midnight};
  const hh_mm_ss clock{moment - midnight};
  const auto hour = clock.hours().count();
  fmt::format_to(std::back_inserter(out), "{}/{}/{} {}:{:02}:{:02} {}", static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), static_cast<int>(date.year()),
                 hour % 12 == 0 ? 12 : hour % 12, clock.minutes().count(), clock.seconds().count(),
                 hour < 12 ? "AM" : "PM");
}

namespace {

// Rounds of the newsroom_news streams (0 draws the themes of a story).
constexpr std::uint32_t traits_round = 1, text_round = 2;

constexpr double old_news_share = 0.45;  // published in the history period
constexpr double fitting_subcategory = 0.6;
constexpr std::size_t items_per_task = 256;

// The index-th of `news` items: old news are spread evenly over the history days, the others over the
// recorded.
int publication_day(std::int64_t index, std::int64_t news, std::int64_t recorded_days) {
  const auto old_news = static_cast<std::int64_t>(old_news_share * static_cast<double>(news));
  if (index < old_news) return static_cast<int>(index * history_days / old_news);
  return history_days + static_cast<int>((index - old_news) * recorded_days / (news - old_news));
}

// Themes lean towards a subcategory of their category but do not determine it.
std::uint32_t draw_subcategory(const World& world, std::uint32_t theme, RandomSource& random) {
  const std::size_t choices = world.categories[world.themes[theme].category].subcategories.size();
  if (bernoulli(random, fitting_subcategory)) return static_cast<std::uint32_t>(theme % choices);
  return static_cast<std::uint32_t>(uniform_below(random, choices));
}

Item make_item(const World& world, const NewsroomSettings& settings, const Story& story,
               std::uint32_t index) {
  SeededRandom random(static_cast<std::uint64_t>(settings.seed), Purpose::newsroom_news, traits_round, index);
  Item item;
  item.mix = story.mix;
  item.category = world.themes[story.mix.primary].category;
  item.subcategory = draw_subcategory(world, story.mix.primary, random);
  item.appeal = static_cast<float>(settings.appeal * normal(random));
  item.published = moment(random, publication_day(index, settings.news, settings.days), 4, 23);
  return item;
}

void write_texts(World& world, const NewsroomSettings& settings) {
  const Prose prose(world, settings.vague_titles);
  parallel_for(world.items.size(), items_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      SeededRandom random(static_cast<std::uint64_t>(settings.seed), Purpose::newsroom_news, text_round,
                          static_cast<std::uint32_t>(i));
      prose.write(world.items[i], random, world.texts[i]);
    }
  });
}

}  // namespace

Result<World> build_world(const NewsroomSettings& settings) {
  const auto seed = static_cast<std::uint64_t>(settings.seed);
  Desks desks;
  if (settings.headlines.empty()) {
    desks = built_in_desks(settings);
  } else {
    SOTTO_TRY(desks, headline_desks(settings));
  }
  World world;
  world.calendar.recorded_days = static_cast<int>(settings.days);
  world.categories = std::move(desks.categories);
  world.themes = std::move(desks.themes);
  world.entities = make_entities(world.themes, seed);
  world.entity_vectors = make_entity_vectors(world.entities, world.themes, world.categories.size(), seed);

  std::vector<Item> items;
  for (std::uint32_t i = 0; i < desks.stories.size(); ++i)
    items.push_back(make_item(world, settings, desks.stories[i], i));
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return items[a].published < items[b].published; });
  for (const std::uint32_t i : order) {
    world.items.push_back(items[i]);
    world.texts.push_back({std::move(desks.stories[i].title), "", {}, {}});
  }
  write_texts(world, settings);
  return world;
}

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

}  // namespace sotto::data::newsroom
