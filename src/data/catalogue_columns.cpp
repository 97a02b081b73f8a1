#include "data/catalogue_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/printable.h"
#include "data/column_writer.h"
#include "data/dataset_sections.h"

namespace sotto {

namespace sections = dataset_sections;

CatalogueColumns::CatalogueColumns() {
  category_names_.intern("");
  subcategory_names_.intern("");
}

ItemId CatalogueColumns::number(std::string_view id) {
  const ItemId item = ids_.intern(id);
  if (item == items_.size()) {
    items_.emplace_back();
    ++without_text_;
  }
  return item;
}

ItemId CatalogueColumns::add(const ItemRecord& record) {
  const ItemId number_of_item = number(record.id);
  Item& item = items_[number_of_item];
  const bool had_text = item.has_text();
  if (item.title.empty()) item.title = record.title;
  if (item.abstract.empty()) item.abstract = record.abstract;
  if (item.category == 0) item.category = category_names_.intern(record.category);
  if (item.subcategory == 0) item.subcategory = subcategory_names_.intern(record.subcategory);
  complete_entities(item.title_entities, record.title_entities);
  complete_entities(item.abstract_entities, record.abstract_entities);
  if (!had_text && item.has_text()) --without_text_;
  return number_of_item;
}

void CatalogueColumns::complete_entities(std::vector<std::uint32_t>& known,
                                         std::span<const EntityMention> mentions) {
  const bool first = known.empty();
  for (const EntityMention& mention : mentions) {
    const std::uint32_t entity = entity_ids_.intern(mention.id);
    if (entity == entity_labels_.size()) entity_labels_.emplace_back();
    if (entity_labels_[entity].empty()) entity_labels_[entity] = mention.label;
    if (first) known.push_back(entity);
  }
}

Status CatalogueColumns::set_entity_vector(std::string_view entity, std::span<const float> vector) {
  if (vector.empty() || vector.size() > std::numeric_limits<std::uint32_t>::max()) {
    return bad_input("the vector of entity '{}' has {} numbers", printable(entity), vector.size());
  }
  if (entity_dimension_ != 0 && vector.size() != entity_dimension_) {
    return bad_input("the vector of entity '{}' has {} numbers, earlier ones had {}: all must be of one size",
                     printable(entity), vector.size(), entity_dimension_);
  }
  if (!std::all_of(vector.begin(), vector.end(), [](float value) { return std::isfinite(value); })) {
    return bad_input("the vector of entity '{}' holds a number that is not finite", printable(entity));
  }
  const auto number_of_entity = entity_ids_.find(entity);
  if (!number_of_entity) return {};
  entity_dimension_ = vector.size();
  const std::size_t begin = *number_of_entity * entity_dimension_;
  if (entity_vectors_.size() < begin + entity_dimension_) entity_vectors_.resize(begin + entity_dimension_);
  std::copy(vector.begin(), vector.end(), entity_vectors_.begin() + static_cast<std::ptrdiff_t>(begin));
  return {};
}

Status CatalogueColumns::write(BinaryFileWriter& writer) const {
  const std::size_t rows = items_.size();
  SOTTO_CHECK(write_strings(writer, sections::item_ids, ids_));
  SOTTO_CHECK(write_strings(writer, sections::titles, rows,
                            [&](std::size_t row) { return std::string_view(items_[row].title); }));
  SOTTO_CHECK(write_strings(writer, sections::abstracts, rows,
                            [&](std::size_t row) { return std::string_view(items_[row].abstract); }));

  std::vector<std::uint32_t> codes(rows);
  std::transform(items_.begin(), items_.end(), codes.begin(), [](const Item& item) { return item.category; });
  SOTTO_CHECK(write_strings(writer, sections::category_names, category_names_));
  SOTTO_CHECK(writer.add(sections::categories, codes));
  std::transform(items_.begin(), items_.end(), codes.begin(),
                 [](const Item& item) { return item.subcategory; });
  SOTTO_CHECK(write_strings(writer, sections::subcategory_names, subcategory_names_));
  SOTTO_CHECK(writer.add(sections::subcategories, codes));

  SOTTO_CHECK(write_lists(writer, sections::title_entities, rows,
                          [&](std::size_t row) { return std::span(items_[row].title_entities); }));
  SOTTO_CHECK(write_lists(writer, sections::abstract_entities, rows,
                          [&](std::size_t row) { return std::span(items_[row].abstract_entities); }));
  SOTTO_CHECK(write_entities(writer));
  return features_.write(writer, sections::item_features, rows);
}

Status CatalogueColumns::write_entities(BinaryFileWriter& writer) const {
  SOTTO_CHECK(write_strings(writer, sections::entity_ids, entity_ids_));
  SOTTO_CHECK(write_strings(writer, sections::entity_labels, entity_labels_.size(),
                            [&](std::size_t row) { return std::string_view(entity_labels_[row]); }));
  const std::vector<std::uint32_t> dimension = {static_cast<std::uint32_t>(entity_dimension_)};
  SOTTO_CHECK(writer.add(sections::entity_dimension, dimension));
  std::vector<float> vectors = entity_vectors_;
  vectors.resize(entity_ids_.size() * entity_dimension_);
  return writer.add(sections::entity_vectors, vectors);
}

}  // namespace sotto
