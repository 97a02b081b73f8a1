#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/distributions.h"
#include "base/thread_pool.h"
#include "data/newsroom/headlines.h"
#include "data/newsroom/vocabulary.h"

namespace sotto::data::newsroom {
namespace {

constexpr std::uint32_t themes_wanted = 68;  // over all categories, as many as the built-in ones
constexpr std::uint32_t fewest_themes = 4, most_themes = 40;  // per category
constexpr std::size_t most_words = 20'000;                    // by frequency
constexpr double too_common = 0.01;    // share of headlines, unless the word belongs to one category
constexpr double at_home = 4;          // times as frequent in one category as in all
constexpr double only_home = 0.8;      // or this share of its headlines in one category
constexpr std::uint32_t too_rare = 2;  // headlines
constexpr int rounds = 12;
constexpr std::size_t typical_words = 18;
constexpr float second_theme_from = 0.3F;  // similarity relative to the first theme
constexpr float least_headline_share = 0.55F;
constexpr std::uint32_t clustering_round = 6;  // of the newsroom_world streams
constexpr std::uint32_t mix_round = 0;         // of the newsroom_news streams
constexpr std::size_t headlines_per_task = 512;

struct WeightedWord {
  std::uint32_t word;
  float weight;
};
using Document = std::vector<WeightedWord>;  // of length 1, or empty

// Lower-case words of at least three letters (any byte above ASCII counts as a letter).
std::vector<std::string> words_of(std::string_view title) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.size() >= 3) words.push_back(word);
    word.clear();
  };
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      word += c;
    else if (c >= 'A' && c <= 'Z')
      word += static_cast<char>(c - 'A' + 'a');
    else if (c != '\'')
      finish();
  }
  finish();
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

struct Corpus {
  std::vector<std::string> words;
  std::vector<Document> documents;
};

using Frequencies = std::unordered_map<std::string, std::uint32_t>;  // in how many headlines a word is

// Which of the common words are at home in a category: function words are in many headlines of all
// categories, "senate" is in many of one.
std::unordered_set<std::string> common_words_at_home(std::span<const std::string> titles,
                                                     std::span<const std::uint32_t> category_of,
                                                     std::uint32_t categories, const Frequencies& frequencies,
                                                     double common_from) {
  std::unordered_set<std::string> at_home_words;
  if (categories < 2) return at_home_words;
  std::vector<double> category_sizes(categories, 0.0);
  std::unordered_map<std::string, std::vector<std::uint32_t>> per_category;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    category_sizes[category_of[i]] += 1;
    for (const std::string& word : words_of(titles[i])) {
      if (frequencies.at(word) <= common_from) continue;
      auto& counts = per_category[word];
      counts.resize(categories);
      ++counts[category_of[i]];
    }
  }
  for (const auto& [word, counts] : per_category)
    for (std::size_t c = 0; c < categories; ++c) {
      const double share = static_cast<double>(counts[c]) / frequencies.at(word);
      const double expected = category_sizes[c] / static_cast<double>(titles.size());
      if (share >= only_home || share >= at_home * expected) at_home_words.insert(word);
    }
  return at_home_words;
}

Corpus weigh(std::span<const std::string> titles, std::span<const std::uint32_t> category_of,
             std::uint32_t categories) {
  Frequencies frequencies;
  for (const std::string& title : titles)
    for (const std::string& word : words_of(title)) ++frequencies[word];
  const auto documents = static_cast<double>(titles.size());
  const double common_from = std::max(too_common * documents, 4.0);
  const auto at_home_words = common_words_at_home(titles, category_of, categories, frequencies, common_from);
  std::vector<std::pair<std::uint32_t, std::string>> kept;
  for (const auto& [word, count] : frequencies)
    if (count >= too_rare && (count <= common_from || at_home_words.contains(word)))
      kept.emplace_back(count, word);
  // Frequent first, then by the word: a map has no order of its own.
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  kept.resize(std::min(kept.size(), most_words));

  Corpus corpus;
  std::unordered_map<std::string_view, WeightedWord> known;
  for (const auto& [count, word] : kept) corpus.words.push_back(word);
  for (std::uint32_t i = 0; i < kept.size(); ++i)
    known[corpus.words[i]] = {i, static_cast<float>(std::log(documents / kept[i].first))};
  for (const std::string& title : titles) {
    Document document;
    float squares = 0;
    for (const std::string& word : words_of(title))
      if (const auto found = known.find(word); found != known.end()) {
        document.push_back(found->second);
        squares += found->second.weight * found->second.weight;
      }
    for (WeightedWord& entry : document) entry.weight /= std::sqrt(squares);
    corpus.documents.push_back(std::move(document));
  }
  return corpus;
}

float similarity(const Document& document, std::span<const float> centre) {
  float sum = 0;
  for (const WeightedWord& entry : document) sum += entry.weight * centre[entry.word];
  return sum;
}

void normalise(std::vector<float>& centre) {
  float squares = 0;
  for (const float value : centre) squares += value * value;
  if (squares == 0) return;
  for (float& value : centre) value /= std::sqrt(squares);
}

std::size_t nearest_centre(const Document& document, const std::vector<std::vector<float>>& centres) {
  std::size_t nearest = 0;
  float best = -1;
  for (std::size_t c = 0; c < centres.size(); ++c)
    if (const float near = similarity(document, centres[c]); near > best) {
      best = near;
      nearest = c;
    }
  return nearest;
}

// Centres of `count` groups of the members. Starts from documents that are unlike each other.
std::vector<std::vector<float>> cluster(const Corpus& corpus, std::span<const std::uint32_t> members,
                                        std::uint32_t count, RandomSource& random) {
  std::vector<std::vector<float>> centres;
  std::vector<float> nearness(members.size(), 0.0F);
  std::size_t start = uniform_below(random, members.size());
  for (std::uint32_t c = 0; c < count; ++c) {
    std::vector<float> centre(corpus.words.size(), 0.0F);
    for (const WeightedWord& entry : corpus.documents[members[start]]) centre[entry.word] = entry.weight;
    centres.push_back(std::move(centre));
    // The next start: of a few random members, the one least like any centre.
    for (std::size_t m = 0; m < members.size(); ++m)
      nearness[m] = std::max(nearness[m], similarity(corpus.documents[members[m]], centres.back()));
    start = uniform_below(random, members.size());
    for (int tries = 0; tries < 8; ++tries) {
      const std::size_t other = uniform_below(random, members.size());
      if (!corpus.documents[members[other]].empty() && nearness[other] < nearness[start]) start = other;
    }
  }
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::vector<float>> sums(centres.size(), std::vector<float>(corpus.words.size(), 0.0F));
    for (const std::uint32_t member : members) {
      const Document& document = corpus.documents[member];
      auto& sum = sums[nearest_centre(document, centres)];
      for (const WeightedWord& entry : document) sum[entry.word] += entry.weight;
    }
    for (std::size_t c = 0; c < centres.size(); ++c) {
      normalise(sums[c]);
      centres[c] = std::move(sums[c]);
    }
  }
  return centres;
}

ThemeWords typical_words_of(const std::vector<float>& centre, const Corpus& corpus) {
  std::vector<std::pair<float, std::uint32_t>> ranked;
  for (std::uint32_t word = 0; word < centre.size(); ++word)
    if (centre[word] > 0) ranked.emplace_back(-centre[word], word);
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(ranked.size(), typical_words));
  std::partial_sort(ranked.begin(), end, ranked.end());
  const CommonWords& common = common_words();
  ThemeWords words{{}, common.verbs, common.adjectives};
  for (auto entry = ranked.begin(); entry != end; ++entry) words.nouns.push_back(corpus.words[entry->second]);
  if (words.nouns.empty()) words.nouns = common.nouns;
  return words;
}

// The nearest theme of the own category, and the nearest of all others when it is near enough.
ThemeMix mix_of(const Document& document, std::uint32_t category, const std::vector<Theme>& themes,
                const std::vector<std::vector<float>>& centres, RandomSource& random) {
  std::vector<std::uint32_t> own;
  std::vector<float> near;
  for (std::uint32_t theme = 0; theme < themes.size(); ++theme) {
    near.push_back(similarity(document, centres[theme]));
    if (themes[theme].category == category) own.push_back(theme);
  }
  ThemeMix mix;
  mix.primary = *std::max_element(own.begin(), own.end(),
                                  [&](std::uint32_t a, std::uint32_t b) { return near[a] < near[b]; });
  // No known word: any theme of the category will do.
  if (near[mix.primary] == 0) mix.primary = own[uniform_below(random, own.size())];
  mix.secondary = mix.primary;
  float second = 0;
  for (std::uint32_t theme = 0; theme < themes.size(); ++theme)
    if (theme != mix.primary && near[theme] > second) {
      second = near[theme];
      mix.secondary = theme;
    }
  if (second < second_theme_from * near[mix.primary] || second == 0) {
    mix.secondary = mix.primary;
    return mix;
  }
  mix.primary_share = std::max(least_headline_share, near[mix.primary] / (near[mix.primary] + second));
  return mix;
}

}  // namespace

FoundThemes find_themes(std::span<const std::string> titles, std::span<const std::uint32_t> category_of,
                        std::uint32_t categories, std::uint64_t seed) {
  const Corpus corpus = weigh(titles, category_of, categories);
  std::vector<std::vector<std::uint32_t>> members(categories);
  for (std::uint32_t i = 0; i < titles.size(); ++i) members[category_of[i]].push_back(i);
  const std::uint32_t per_category =
      std::clamp((themes_wanted + categories / 2) / categories, fewest_themes, most_themes);

  FoundThemes found;
  std::vector<std::vector<float>> centres;
  for (std::uint32_t category = 0; category < categories; ++category) {
    SeededRandom random(seed, Purpose::newsroom_world, clustering_round, category);
    for (std::vector<float>& centre : cluster(corpus, members[category], per_category, random)) {
      found.themes.push_back({category, 0, typical_words_of(centre, corpus)});
      centres.push_back(std::move(centre));
    }
  }
  found.mixes.resize(titles.size());
  parallel_for(titles.size(), headlines_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      SeededRandom random(seed, Purpose::newsroom_news, mix_round, static_cast<std::uint32_t>(i));
      found.mixes[i] = mix_of(corpus.documents[i], category_of[i], found.themes, centres, random);
    }
  });
  for (const ThemeMix& mix : found.mixes)
    found.themes[mix.primary].demand += 1 / static_cast<double>(titles.size());
  return found;
}

}  // namespace sotto::data::newsroom
