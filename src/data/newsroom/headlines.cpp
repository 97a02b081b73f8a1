#include "data/newsroom/headlines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/distributions.h"
#include "base/files.h"
#include "base/utf8.h"
#include "data/importers/import_job.h"

namespace sotto::data::newsroom {
namespace {

constexpr std::size_t longest_line = 1 << 16;
constexpr std::size_t most_headlines = 4'000'000;
constexpr std::size_t most_categories = 500;
constexpr std::uint32_t selection_round = 5;  // of the newsroom_world streams
constexpr int subcategories = 3;
constexpr double tail_offset = 3, tail_power = 1.3;  // category of rank r: (r + 3)^-1.3

// One line of printable text: control characters would break the TSV that it goes into.
std::string clean(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (!space)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::optional<Headline> parse_json(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto raw = json.find("raw");
  const auto label = json.find("label");
  if (raw == json.end() || !raw->is_string() || label == json.end()) return std::nullopt;
  if (!label->is_string() && !label->is_number_integer()) return std::nullopt;
  std::string category =
      label->is_string() ? label->get<std::string>() : fmt::format("category{}", label->get<std::int64_t>());
  return Headline{clean(category), clean(raw->get<std::string>())};
}

std::optional<Headline> parse(std::string_view line) {
  if (!is_utf8(line)) return std::nullopt;
  std::optional<Headline> headline;
  if (line.starts_with('{')) {
    headline = parse_json(line);
  } else if (const std::size_t tab = line.find('\t'); tab != std::string_view::npos) {
    headline = Headline{clean(line.substr(0, tab)), clean(line.substr(tab + 1))};
  } else {
    headline = Headline{"news", clean(line)};
  }
  if (headline && (headline->category.empty() || headline->title.empty())) headline.reset();
  return headline;
}

// The chosen headlines in random order; the categories that occur in them, by name.
struct Selection {
  std::vector<Headline> headlines;
  std::map<std::string, std::uint32_t> categories;
};

// How readily a newsroom prints each category: a few large desks and a tail, in an order that depends on the
// seed.
std::map<std::string, double> draw_category_weights(const std::vector<Headline>& all, RandomSource& random) {
  std::map<std::string, double> weights;
  for (const Headline& headline : all) weights.emplace(headline.category, 0);
  std::vector<double> tail;
  for (std::size_t rank = 0; rank < weights.size(); ++rank)
    tail.push_back(std::pow(static_cast<double>(rank) + tail_offset, -tail_power));
  shuffle(std::span<double>(tail), random);
  std::size_t next = 0;
  for (auto& [name, weight] : weights) weight = tail[next++];
  return weights;
}

Result<Selection> select(std::vector<Headline> all, const NewsroomSettings& settings) {
  const auto wanted = static_cast<std::size_t>(settings.news);
  if (all.size() < wanted)
    return bad_input("{} has {} headlines but {} news are asked for: lower news to {} or give a larger file",
                     settings.headlines, all.size(), wanted, all.size());
  SeededRandom random(static_cast<std::uint64_t>(settings.seed), Purpose::newsroom_world, selection_round);
  const auto weights = draw_category_weights(all, random);
  if (weights.size() > most_categories)
    return bad_input("{} has more than {} categories: is the part before the tab really the category?",
                     settings.headlines, most_categories);
  // The smallest of exponential / weight are a weighted sample without replacement.
  std::vector<std::pair<double, std::uint32_t>> order;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    order.emplace_back(exponential(random) / weights.at(all[i].category), i);
  std::sort(order.begin(), order.end());
  order.resize(wanted);
  // Sorted, the readily printed would all come first: shuffled, they are spread over the days.
  shuffle(std::span<std::pair<double, std::uint32_t>>(order), random);
  Selection selection;
  for (const auto& [key, i] : order) {
    selection.categories.emplace(all[i].category, 0);
    selection.headlines.push_back(std::move(all[i]));
  }
  std::uint32_t number = 0;
  for (auto& [name, index] : selection.categories) index = number++;
  return selection;
}

}  // namespace

Result<std::vector<Headline>> read_headlines(const fs::path& file) {
  SOTTO_TRY(LineReader reader, LineReader::open(file, longest_line));
  ImportReport report{ImportOptions{}};
  std::vector<Headline> headlines;
  std::string_view line;
  while (true) {
    SOTTO_TRY(const bool more, reader.next(line));
    if (!more) break;
    if (line.empty()) continue;
    if (auto headline = parse(line)) {
      report.good();
      headlines.push_back(std::move(*headline));
    } else {
      report.malformed(reader.path(), reader.line_number(), "neither JSON with raw and label, nor text");
    }
    if (headlines.size() > most_headlines)
      return bad_input("{} has more than {} headlines: give a part of it", file.string(), most_headlines);
  }
  SOTTO_CHECK(report.check());
  return headlines;
}

Result<Desks> headline_desks(const NewsroomSettings& settings) {
  SOTTO_TRY(std::vector<Headline> all, read_headlines(settings.headlines));
  SOTTO_TRY(Selection selection, select(std::move(all), settings));
  std::vector<std::string> titles;
  std::vector<std::uint32_t> category_of;
  for (Headline& headline : selection.headlines) {
    category_of.push_back(selection.categories.at(headline.category));
    titles.push_back(std::move(headline.title));
  }
  FoundThemes found =
      find_themes(titles, category_of, static_cast<std::uint32_t>(selection.categories.size()),
                  static_cast<std::uint64_t>(settings.seed));
  Desks desks;
  for (const auto& [name, index] : selection.categories) {
    Category category{name, {}, {}};
    for (int i = 1; i <= subcategories; ++i) category.subcategories.push_back(fmt::format("{}-{}", name, i));
    desks.categories.push_back(std::move(category));
  }
  for (const Theme& theme : found.themes) {
    auto& nouns = desks.categories[theme.category].nouns;
    nouns.insert(nouns.end(), theme.words.nouns.begin(), theme.words.nouns.end());
  }
  desks.themes = std::move(found.themes);
  for (std::size_t i = 0; i < titles.size(); ++i)
    desks.stories.push_back({found.mixes[i], std::move(titles[i])});
  return desks;
}

}  // namespace sotto::data::newsroom
