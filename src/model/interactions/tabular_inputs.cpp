#include "model/interactions/tabular_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "text/word_tokenizer.h"

namespace sotto::model {

namespace {

// Features with more values than this name single users or items (zip codes, developers) and are left out.
constexpr std::size_t most_values = 1000;
// A title word that fewer items share says nothing about the others.
constexpr std::size_t least_items_of_word = 5;
// Of the catalogue, what the paper feeds: genres (MovieLens) and whether an app costs something (Frappe,
// where the log's `cost` is known for used items only).
constexpr std::array<std::string_view, 2> paper_item_features = {"genres", "price"};
// The paper counts `cost` of the log among the item's features.
constexpr std::string_view item_side_context = "cost";

TabularField field_of(const data::CategoricalFeature& feature) {
  TabularField field;
  field.name = feature.name;
  field.values = static_cast<std::int64_t>(feature.names.size());
  for (std::size_t row = 0; row < feature.codes.size(); ++row) {
    const auto codes = feature.codes[row];
    field.codes.insert(field.codes.end(), codes.begin(), codes.end());
    field.offsets.push_back(field.codes.size());
  }
  return field;
}

bool usable(const data::CategoricalFeature& feature) {
  return feature.names.size() > 1 && feature.names.size() <= most_values;
}

TabularField category_field(const data::Catalogue& catalogue) {
  TabularField field;
  field.name = "category";
  field.values = static_cast<std::int64_t>(catalogue.category_names.size());
  for (const std::uint32_t category : catalogue.categories) {
    field.codes.push_back(category);
    field.offsets.push_back(field.codes.size());
  }
  return field;
}

TabularField decade_field(const data::NumericFeature& year) {
  TabularField field;
  field.name = "decade";
  std::map<int, std::uint32_t> decades;
  for (const float value : year.values) {
    if (std::isfinite(value)) {
      const auto decade = static_cast<int>(std::floor(std::clamp(value, -1e6F, 1e6F) / 10));
      field.codes.push_back(
          decades.emplace(decade, static_cast<std::uint32_t>(decades.size())).first->second);
    }
    field.offsets.push_back(field.codes.size());
  }
  field.values = static_cast<std::int64_t>(decades.size());
  return field;
}

TabularField word_field(const data::StringColumn& titles) {
  const text::WordTokenizer tokenizer({.keep_punctuation = false});
  std::map<std::string, std::size_t> items_of_word;
  std::vector<std::vector<std::string>> words(titles.size());
  for (std::size_t item = 0; item < titles.size(); ++item) {
    for (const auto& word : tokenizer.tokenize(titles[item]))
      if (std::find(words[item].begin(), words[item].end(), word) == words[item].end())
        words[item].push_back(word);
    for (const auto& word : words[item]) ++items_of_word[word];
  }
  TabularField field;
  field.name = "words";
  std::map<std::string, std::uint32_t> codes;
  for (const auto& [word, items] : items_of_word)
    if (items >= least_items_of_word) codes.emplace(word, static_cast<std::uint32_t>(codes.size()));
  for (const auto& title : words) {
    for (const auto& word : title)
      if (const auto code = codes.find(word); code != codes.end()) field.codes.push_back(code->second);
    field.offsets.push_back(field.codes.size());
  }
  field.values = static_cast<std::int64_t>(codes.size());
  return field;
}

void add_rich_item_fields(const data::Catalogue& catalogue, std::vector<TabularField>& fields) {
  for (const auto& feature : catalogue.features.categorical)
    if (usable(feature)) fields.push_back(field_of(feature));
  if (catalogue.category_names.size() > 1) fields.push_back(category_field(catalogue));
  if (const auto* year = catalogue.features.find_numeric("year")) fields.push_back(decade_field(*year));
  if (auto words = word_field(catalogue.titles); words.values > 0) fields.push_back(std::move(words));
}

std::vector<std::unordered_map<data::ItemId, float>> counts_of(const data::Interactions& log,
                                                               const data::NumericFeature& counts,
                                                               std::size_t users) {
  std::vector<std::unordered_map<data::ItemId, float>> by_user(users);
  for (std::size_t user = 0; user < users; ++user)
    for (std::uint64_t row = log.user_offsets[user]; row < log.user_offsets[user + 1]; ++row)
      if (std::isfinite(counts.values[row]))
        by_user[user][log.items[row]] = std::log1p(std::max(counts.values[row], 0.0F));
  return by_user;
}

}  // namespace

InputChoice input_choice(std::string_view name) {
  if (name == "paper") return InputChoice::paper;
  if (name == "leaking") return InputChoice::leaking;
  return name == "ids" ? InputChoice::ids : InputChoice::rich;
}

std::int64_t TabularInputs::values_of(std::size_t field) const {
  if (field < user.size()) return user[field].values;
  field -= user.size();
  return field < context.size() ? context[field].values : item[field - context.size()].values;
}

Result<TabularInputs> build_tabular_inputs(const data::Dataset& dataset, InputChoice choice) {
  TabularInputs inputs;
  inputs.choice = choice;
  const data::Catalogue& catalogue = dataset.catalogue();
  inputs.items = static_cast<std::int64_t>(catalogue.size());
  if (choice == InputChoice::ids) return inputs;
  for (const auto& feature : dataset.user_features().categorical)
    if (usable(feature)) inputs.user.push_back(field_of(feature));
  if (choice == InputChoice::rich) {
    add_rich_item_fields(catalogue, inputs.item);
    return inputs;
  }
  const data::Features& context = dataset.interactions().context;
  for (const auto& feature : context.categorical)
    if (usable(feature) && feature.name != item_side_context) inputs.context.push_back(field_of(feature));
  for (const auto& feature : catalogue.features.categorical)
    if (std::find(paper_item_features.begin(), paper_item_features.end(), feature.name) !=
        paper_item_features.end())
      inputs.item.push_back(field_of(feature));
  if (inputs.item.empty())
    return bad_input(
        "the items of {} have neither genres nor a price, which the paper's inputs are: use "
        "inputs=rich or inputs=ids",
        dataset.name());
  if (choice == InputChoice::leaking) {
    const auto* counts = context.find_numeric("cnt");
    if (counts == nullptr)
      return bad_input("{} has no column cnt, which inputs=leaking feeds: it is meant for Frappe",
                       dataset.name());
    inputs.counts = counts_of(dataset.interactions(), *counts, dataset.user_count());
  }
  return inputs;
}

}  // namespace sotto::model
