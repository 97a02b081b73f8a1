#include "data/dataset_builder.h"

#include <algorithm>

#include "base/binary_file.h"
#include "data/behaviour_columns.h"
#include "data/catalogue_columns.h"
#include "data/column_writer.h"
#include "data/dataset_sections.h"

namespace sotto {

namespace sections = dataset_sections;

struct DatasetBuilder::State {
  std::string name, origin;
  CatalogueColumns catalogue;
  StringTable user_ids;
  FeatureColumns user_features;
  ImpressionColumns impressions;
  InteractionColumns interactions;
  Status problem;  // the first wrong use, told by write()

  bool accepts(Status status) {
    if (!status && problem) problem = std::move(status);
    return problem.has_value();
  }
  bool knows_user(UserId user) {
    if (user < user_ids.size()) return true;
    return accepts(bad_input("user number {} was used, but there are only {} users", user, user_ids.size()));
  }
  bool knows_items(std::span<const ItemId> items) {
    const std::size_t count = catalogue.size();
    const auto unknown = std::find_if(items.begin(), items.end(), [&](ItemId item) { return item >= count; });
    if (unknown == items.end()) return true;
    return accepts(bad_input("item number {} was used, but there are only {} items", *unknown, count));
  }
};

DatasetBuilder::DatasetBuilder(std::string name, std::string origin) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->origin = std::move(origin);
}
DatasetBuilder::~DatasetBuilder() = default;
DatasetBuilder::DatasetBuilder(DatasetBuilder&&) noexcept = default;
DatasetBuilder& DatasetBuilder::operator=(DatasetBuilder&&) noexcept = default;

ItemId DatasetBuilder::add_item(const ItemRecord& item) { return state_->catalogue.add(item); }
ItemId DatasetBuilder::item(std::string_view id) { return state_->catalogue.number(id); }
std::uint64_t DatasetBuilder::items_without_text() const { return state_->catalogue.without_text(); }

void DatasetBuilder::set_item_category(ItemId item, std::string_view feature,
                                       std::span<const std::string_view> values) {
  if (state_->knows_items({&item, 1})) state_->catalogue.features().set_categorical(item, feature, values);
}

void DatasetBuilder::set_item_number(ItemId item, std::string_view feature, float value) {
  if (state_->knows_items({&item, 1})) state_->catalogue.features().set_numeric(item, feature, value);
}

Status DatasetBuilder::set_entity_vector(std::string_view entity, std::span<const float> vector) {
  return state_->catalogue.set_entity_vector(entity, vector);
}

UserId DatasetBuilder::user(std::string_view id) { return state_->user_ids.intern(id); }

void DatasetBuilder::set_user_category(UserId user, std::string_view feature,
                                       std::span<const std::string_view> values) {
  if (state_->knows_user(user)) state_->user_features.set_categorical(user, feature, values);
}

void DatasetBuilder::set_user_number(UserId user, std::string_view feature, float value) {
  if (state_->knows_user(user)) state_->user_features.set_numeric(user, feature, value);
}

DatasetBuilder::HistoryHandle DatasetBuilder::add_history(std::span<const ItemId> items) {
  return state_->impressions.add_history(state_->knows_items(items) ? items : std::span<const ItemId>());
}

void DatasetBuilder::add_impression(UserId user, std::int64_t time, Split split, HistoryHandle history,
                                    std::uint32_t history_length, std::span<const ItemId> shown,
                                    std::span<const std::uint8_t> clicked) {
  if (!state_->knows_user(user) || !state_->knows_items(shown)) return;
  state_->accepts(state_->impressions.add(user, time, split, history, history_length, shown, clicked));
}

void DatasetBuilder::add_interaction(UserId user, ItemId item, float rating, std::int64_t time,
                                     Context categorical,
                                     std::span<const std::pair<std::string_view, float>> numeric) {
  if (!state_->knows_user(user) || !state_->knows_items({&item, 1})) return;
  InteractionColumns& interactions = state_->interactions;
  const std::size_t row = interactions.size();
  if (!state_->accepts(interactions.add(user, item, rating, time))) return;
  for (const auto& [feature, value] : categorical)
    interactions.context().set_categorical(row, feature, {&value, 1});
  for (const auto& [feature, value] : numeric) interactions.context().set_numeric(row, feature, value);
}

DatasetCounts DatasetBuilder::counts() const {
  return {.users = state_->user_ids.size(),
          .items = state_->catalogue.size(),
          .interactions = state_->interactions.size(),
          .impressions = state_->impressions.size(),
          .clicks = state_->impressions.clicks()};
}

Status DatasetBuilder::write(const fs::path& directory) const {
  SOTTO_CHECK(state_->problem);
  SOTTO_TRY(BinaryFileWriter writer,
            BinaryFileWriter::create(directory / sections::file_name, sections::kind, sections::version));
  SOTTO_CHECK(writer.add_text(sections::name, state_->name));
  SOTTO_CHECK(writer.add_text(sections::origin, state_->origin));
  SOTTO_CHECK(state_->catalogue.write(writer));
  SOTTO_CHECK(write_strings(writer, sections::user_ids, state_->user_ids));
  SOTTO_CHECK(state_->user_features.write(writer, sections::user_features, state_->user_ids.size()));
  SOTTO_CHECK(state_->impressions.write(writer, state_->user_ids.size()));
  SOTTO_CHECK(state_->interactions.write(writer, state_->user_ids.size()));
  return writer.commit();
}

}  // namespace sotto
