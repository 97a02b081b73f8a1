#include "data/newsroom/prose.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/distributions.h"
#include "data/newsroom/vocabulary.h"

namespace sotto::data::newsroom {

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

namespace {

// Gaps: {n} {v} {a} noun, verb, adjective of a theme of the item; {e} entity; {c} noun of the category;
// {x} {y} {z} everyday noun, verb, adjective; {p} place; {t} time; {k} number.
constexpr std::string_view titles[] = {
    "{e} {v} {a} {n} after {n} {x} in {p}",
    "Why the {a} {n} {v} more than one {n} this {x}",
    "{k} {a} {n} and {n} stories about {n} you missed {t}",
    "{p} {c} {v} over {n} and {a} {n} {t}",
    "The {a} {n} behind the {z} {n} and {n} of {e}",
    "How {e} {v} the {n} with only one {a} {n}",
    "{n} or {n}? The {a} {n} {v} a {z} {x} {t}",
    "{e}: a {a} {n} {v} and the {n} {y} again",
    "No more {n}: {p} {v} its {a} {n} for the {n}",
    "Inside the {n} that {v} a {a} {n} in {p}",
    "What the {n} and the {c} {y} about {a} {n} {t}",
    "{a} {n} {v} near {p} while the {n} {v} {n}",
    "Can a {n} and a {a} {n} save the {z} {n}?",
    "{c}: the {n} {v} a {a} {x} before {n} {y}",
    "Meet the {n} who {v} {a} {n} every {x} {t}",
    "{e} and the {n}: a {a} {n} in {k} parts",
    "A {a} {n} leaves the {c} without {n} in {p}",
    "{p} {y} the {a} {n} that {v} the whole {n}",
    "From {n} to {n}: the {a} {n} of {e} in {p}",
    "It {v} again: {a} {n} and {n} return to {p} {t}",
};
constexpr std::string_view vague[] = {
    "This {z} {x} {y} everyone in {p} about the {n} {t}", "The {x} nobody saw: {p} {y} a {z} {c} {t}",
    "{k} things to know about the {z} {x} and its {c}",   "A {z} {x}, a {z} {x}: why the {n} {y} {p}",
    "You will not believe what the {c} {y} in {p} {t}",   "{e} {y} a {z} {x} and {p} {y} it {t}",
};
constexpr std::string_view sentences[] = {
    "The {n} {v} the {a} {n}, and the {c} says the {z} {x} is not over.",
    "{e} {y} that the {n} and the {n} were part of a {z} {x} in {p}.",
    "For many in {p} the {a} {n} is a {z} {x}, others still wait for the {n}.",
    "It started with a {n}: first it {v}, then the {c} {y} the {a} {n}.",
    "Those who follow the {n} know that a {a} {n} rarely {v} without a {x}.",
    "The {c} near {p} {y} {k} reasons, from the {n} to a {z} {n}.",
    "Nobody {y} the {x} yet, but the {a} {n} already {v} the {n}.",
    "With {e} the {n} became {a}, and with it the {x} of the {c}.",
    "A {z} look at {n}, {n} and {n}, and what it means for {p}.",
    "Last {x} the {n} {v}; this time the {c} {y} a {a} {n}.",
};

constexpr double stray_word = 0.06;
constexpr double common_first = 2;  // word i of n is drawn as n u^2: earlier words are more common

template <class T, std::size_t N>
const T& pick(const T (&values)[N], RandomSource& random) {
  return values[uniform_below(random, N)];
}

}  // namespace

// One sentence in the making, at the end of a text.
class Prose::Sentence {
 public:
  Sentence(const World& world, const Item& item, RandomSource& random, std::string& text,
           std::vector<Mention>& mentions)
      : world_(world), item_(item), random_(random), text_(text), mentions_(mentions) {}

  void append(std::string_view pattern) {
    const std::size_t begin = text_.size();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '{') {
        text_ += pattern[i];
        continue;
      }
      fill(pattern[i + 1]);
      i += 2;  // the letter and the closing brace
    }
    if (text_[begin] >= 'a' && text_[begin] <= 'z')
      text_[begin] = static_cast<char>(text_[begin] - 'a' + 'A');
  }

 private:
  void fill(char gap) {
    const CommonWords& common = common_words();
    switch (gap) {
      case 'n':
        return word(theme().words.nouns);
      case 'v':
        return word(theme().words.verbs);
      case 'a':
        return word(theme().words.adjectives);
      case 'c':
        return word(world_.categories[item_.category].nouns);
      case 'x':
        return word(common.nouns);
      case 'y':
        return word(common.verbs);
      case 'z':
        return word(common.adjectives);
      case 'p':
        return word(common.places);
      case 't':
        return word(common.times);
      case 'k':
        text_ += std::to_string(3 + uniform_below(random_, 18));
        return;
      default:
        return mention();
    }
  }

  void word(const std::vector<std::string>& words) {
    const double point = std::pow(uniform01(random_), common_first);
    const std::string& chosen = words[static_cast<std::size_t>(point * static_cast<double>(words.size()))];
    const bool after_article =
        text_ == "a " || text_ == "A " || text_.ends_with(" a ") || text_.ends_with(" A ");
    if (after_article && std::string_view("aeiou").find(chosen.front()) != std::string_view::npos)
      text_.insert(text_.size() - 1, 1, 'n');
    text_ += chosen;
  }

  std::uint32_t item_theme() {
    return bernoulli(random_, item_.mix.primary_share) ? item_.mix.primary : item_.mix.secondary;
  }
  const Theme& theme() {
    const bool stray = bernoulli(random_, stray_word);
    return world_.themes[stray ? uniform_below(random_, world_.themes.size()) : item_theme()];
  }

  void mention() {
    const auto chosen = static_cast<std::uint32_t>(uniform_below(random_, entities_per_theme));
    const std::uint32_t entity = item_theme() * entities_per_theme + chosen;
    mentions_.push_back({entity, static_cast<std::uint32_t>(text_.size())});
    text_ += world_.entities[entity].label;
  }

  const World& world_;
  const Item& item_;
  RandomSource& random_;
  std::string& text_;
  std::vector<Mention>& mentions_;
};

void Prose::write(const Item& item, RandomSource& random, ItemText& text) const {
  const bool is_vague = bernoulli(random, vague_titles_);
  if (text.title.empty()) {
    const std::string_view pattern = is_vague ? pick(vague, random) : pick(titles, random);
    Sentence(world_, item, random, text.title, text.title_mentions).append(pattern);
  }
  const std::uint64_t count = 2 + uniform_below(random, 3);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) text.abstract += ' ';
    Sentence(world_, item, random, text.abstract, text.abstract_mentions).append(pick(sentences, random));
  }
}

}  // namespace sotto::data::newsroom
