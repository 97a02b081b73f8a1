#include "data/dataset_copy.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "base/utf8.h"
#include "data/dataset_builder.h"

namespace sotto::data {

namespace {

std::vector<EntityMention> mentions_of(const Catalogue& catalogue, std::span<const std::uint32_t> entities) {
  std::vector<EntityMention> mentions;
  mentions.reserve(entities.size());
  for (const std::uint32_t entity : entities) {
    mentions.push_back(
        {std::string(catalogue.entity_ids[entity]), std::string(catalogue.entity_labels[entity])});
  }
  return mentions;
}

// Missing values are copied as such, so that a feature nobody has keeps its column.
template <class SetCategory, class SetNumber>
void copy_features(const Features& features, std::size_t rows, SetCategory set_category,
                   SetNumber set_number) {
  std::vector<std::string_view> names;
  for (const CategoricalFeature& feature : features.categorical) {
    for (std::size_t row = 0; row < rows; ++row) {
      names.clear();
      for (const std::uint32_t code : feature.codes[row]) names.push_back(feature.names[code]);
      set_category(static_cast<std::uint32_t>(row), feature.name, names);
    }
  }
  for (const NumericFeature& feature : features.numeric) {
    for (std::size_t row = 0; row < rows; ++row) {
      set_number(static_cast<std::uint32_t>(row), feature.name, feature.values[row]);
    }
  }
}

}  // namespace

Status copy_items(const Dataset& source, DatasetBuilder& target) {
  const Catalogue& catalogue = source.catalogue();
  for (std::size_t item = 0; item < catalogue.size(); ++item) {
    const auto title_entities = mentions_of(catalogue, catalogue.title_entities[item]);
    const auto abstract_entities = mentions_of(catalogue, catalogue.abstract_entities[item]);
    const ItemId copied =
        target.add_item({.id = catalogue.ids[item],
                         .title = catalogue.titles[item],
                         .abstract = catalogue.abstracts[item],
                         .category = catalogue.category_names[catalogue.categories[item]],
                         .subcategory = catalogue.subcategory_names[catalogue.subcategories[item]],
                         .title_entities = title_entities,
                         .abstract_entities = abstract_entities,
                         .in_public_catalogue = catalogue.is_public[item] != 0});
    if (copied != item) return bad_input("the item id '{}' occurs twice", printable(catalogue.ids[item]));
  }
  if (catalogue.entity_dimension > 0) {
    for (std::size_t entity = 0; entity < catalogue.entity_ids.size(); ++entity) {
      SOTTO_CHECK(target.set_entity_vector(
          catalogue.entity_ids[entity],
          catalogue.entity_vectors.subspan(entity * catalogue.entity_dimension, catalogue.entity_dimension)));
    }
  }
  copy_features(
      catalogue.features, catalogue.size(),
      [&](ItemId item, std::string_view name, std::span<const std::string_view> values) {
        target.set_item_category(item, name, values);
      },
      [&](ItemId item, std::string_view name, float value) { target.set_item_number(item, name, value); });
  return {};
}

Status copy_users(const Dataset& source, DatasetBuilder& target) {
  const StringColumn ids = source.user_ids();
  for (std::size_t user = 0; user < ids.size(); ++user) {
    if (target.user(ids[user]) != user)
      return bad_input("the user id '{}' occurs twice", printable(ids[user]));
  }
  std::vector<std::string_view> declared;
  for (const CategoricalFeature& feature : source.user_features().categorical) {
    declared.clear();
    for (std::size_t code = 0; code < feature.declared; ++code) declared.push_back(feature.names[code]);
    target.declare_user_category(feature.name, declared);  // also of none: columns keep their order
  }
  copy_features(
      source.user_features(), ids.size(),
      [&](UserId user, std::string_view name, std::span<const std::string_view> values) {
        target.set_user_category(user, name, values);
      },
      [&](UserId user, std::string_view name, float value) { target.set_user_number(user, name, value); });
  return {};
}

namespace {

// By category number: whether its clicks may be told.
Result<std::vector<std::uint8_t>> told(const Catalogue& catalogue, std::span<const std::string> categories) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < catalogue.category_names.size(); ++i)
    names.emplace_back(catalogue.category_names[i]);
  std::vector<std::uint8_t> open(names.size(), 0);
  for (const std::string& category : categories) {
    const auto found = std::find(names.begin(), names.end(), category);
    if (category.empty()) return bad_input("items without a category are always sensitive");
    if (found == names.end()) {
      const auto near = nearest(category, names);
      return bad_input("no item has the category '{}'{}", category,
                       near ? "; did you mean '" + *near + "'?" : "");
    }
    open[static_cast<std::size_t>(found - names.begin())] = 1;
  }
  return open;
}

}  // namespace

Status check_categories(const Catalogue& catalogue, std::span<const std::string> categories) {
  SOTTO_TRY(const auto open, told(catalogue, categories));
  (void)open;
  return {};
}

Result<Dataset> open_histories(const Dataset& source, std::span<const std::string> categories,
                               const fs::path& folder) {
  const Catalogue& catalogue = source.catalogue();
  SOTTO_TRY(const auto open, told(catalogue, categories));
  DatasetBuilder builder(std::string(source.name()), "histories of categories that are not sensitive");
  SOTTO_CHECK(copy_items(source, builder));
  SOTTO_CHECK(copy_users(source, builder));
  std::vector<ItemId> kept;
  for (std::size_t i = 0; i < source.impression_count(); ++i) {
    const Impression impression = source.impression(i);
    if (impression.split != Split::test) continue;
    kept.clear();
    for (const ItemId item : impression.history)
      if (open[catalogue.categories[item]] != 0) kept.push_back(item);
    builder.add_impression(impression.user, impression.time, impression.split, builder.add_history(kept),
                           static_cast<std::uint32_t>(kept.size()), impression.shown, impression.clicked);
  }
  builder.set_training_non_clicks(source.training_non_clicks());
  builder.set_split_origin(source.split_origin());
  SOTTO_CHECK(builder.write(folder));
  return Dataset::open(folder);
}

}  // namespace sotto::data
