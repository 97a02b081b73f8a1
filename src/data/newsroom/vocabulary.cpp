#include "data/newsroom/vocabulary.h"

#include <algorithm>

namespace sotto::data::newsroom {
namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<CategoryWords> expand_categories() {
  std::vector<CategoryWords> result;
  for (const RawCategory& raw : raw_categories()) {
    CategoryWords category{std::string(raw.name), split_words(raw.nouns), split_words(raw.subcategories), {}};
    for (const RawTheme& theme : raw.themes)
      category.themes.push_back(
          {split_words(theme.nouns), split_words(theme.verbs), split_words(theme.adjectives)});
    result.push_back(std::move(category));
  }
  return result;
}

}  // namespace

const std::vector<CategoryWords>& built_in_categories() {
  static const std::vector<CategoryWords> categories = expand_categories();
  return categories;
}

const CommonWords& common_words() {
  static const CommonWords words{
      split_words(
          "year week day time plan question reason change move way thing story group town city crowd night "
          "morning "
          "chance surprise mistake secret answer problem history future rumor record fight return lesson "
          "idea "
          "decision choice list number view report picture warning promise start end turn fear hope dream"),
      split_words(
          "says shows gets takes makes finds keeps brings faces wants needs gives shares reveals changes "
          "explains leaves loses turns helps calls asks tells sees meets starts ends joins drops raises"),
      split_words(
          "new big old last first next major small great early late special strange surprising simple famous "
          "secret popular hidden final latest unexpected familiar quiet"),
      split_words("Ashford Brellin Carrow Dunmere Eastholm Farrowby Glenmark Harwick Islay Jorvale Kestwick "
                  "Larkfield "
                  "Merrow Northam Oakhaven Pelbury Quarrington Ravensea Stonebridge Thornby Umberton "
                  "Valemont Westerly "
                  "Yarrowdale"),
      split_words("today tonight tomorrow yesterday again soon finally now already overnight Monday Tuesday "
                  "Wednesday "
                  "Thursday Friday Saturday Sunday"),
      split_words("Ada Bruno Clara Dario Elin Felix Greta Hugo Ines Jonas Kira Leon Mara Nils Olga Pavel "
                  "Rhea Simon Tara "
                  "Ugo Vera Wanda Xenia Yara Zeno Anton Bella Cora Dina Emil"),
      split_words(
          "Bal Cor Dav Ell Far Gar Hol Ing Jar Kel Lin Mor Nor Oll Pel Quin Ros Sal Tor Ull Ver Wil Yor Zan"),
      split_words(
          "berg dale den ford gan hart ingham ker land man mere nell ow quist rick sen strom ton vance wick"),
  };
  return words;
}

}  // namespace sotto::data::newsroom
