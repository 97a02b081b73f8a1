#pragma once
// The item catalogue while a dataset is being built.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/column_writer.h"
#include "data/dataset_builder.h"

namespace sotto {

// Items in any order and in several parts; see DatasetBuilder for what the calls mean. Not thread-safe.
class CatalogueColumns {
 public:
  CatalogueColumns();
  ItemId add(const ItemRecord& item);
  ItemId number(std::string_view id);
  std::size_t size() const { return ids_.size(); }
  std::uint64_t without_text() const { return without_text_; }
  Status set_entity_vector(std::string_view entity, std::span<const float> vector);
  FeatureColumns& features() { return features_; }
  Status write(BinaryFileWriter& writer) const;

 private:
  struct Item {
    std::string title, abstract;
    std::uint32_t category = 0, subcategory = 0;
    std::vector<std::uint32_t> title_entities, abstract_entities;
    bool has_text() const { return !title.empty() || !abstract.empty(); }
  };
  void complete_entities(std::vector<std::uint32_t>& known, std::span<const EntityMention> mentions);
  Status write_entities(BinaryFileWriter& writer) const;

  StringTable ids_, category_names_, subcategory_names_, entity_ids_;
  std::vector<Item> items_;
  std::uint64_t without_text_ = 0;
  std::vector<std::string> entity_labels_;
  std::size_t entity_dimension_ = 0;
  std::vector<float> entity_vectors_;  // rows of the first entities; the rest are zero
  FeatureColumns features_;
};

}  // namespace sotto
