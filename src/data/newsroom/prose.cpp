#include "data/newsroom/prose.h"

#include <cmath>
#include <iterator>
#include <string_view>

#include "base/distributions.h"
#include "data/newsroom/entities.h"

namespace sotto::newsroom {
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

}  // namespace sotto::newsroom
