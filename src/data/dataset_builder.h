#pragma once
// Collects items and behaviour in any order and writes DIR/dataset.sotto. Importers and generators fill one;
// nothing appears on disk before write(). Not thread-safe.
//
// Wrong use (a number never given out, click marks that do not fit the items shown, an infinite value) is
// kept and told by write(), which then writes nothing. Category values that are empty strings and numbers
// that are NaN are missing values.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace sotto {

struct EntityMention {
  std::string id, label;
};

struct ItemRecord {
  std::string_view id, title, abstract, category, subcategory;
  std::span<const EntityMention> title_entities = {}, abstract_entities = {};
};

class DatasetBuilder {
 public:
  DatasetBuilder(std::string name, std::string origin);
  ~DatasetBuilder();
  DatasetBuilder(DatasetBuilder&&) noexcept;
  DatasetBuilder& operator=(DatasetBuilder&&) noexcept;

  // Adds an item or, when the id is known, completes it (first non-empty text wins). Returns its number.
  ItemId add_item(const ItemRecord& item);
  // The number of an item; an unknown id becomes an item without text.
  ItemId item(std::string_view id);
  std::uint64_t items_without_text() const;
  void set_item_category(ItemId item, std::string_view feature, std::span<const std::string_view> values);
  void set_item_number(ItemId item, std::string_view feature, float value);
  // Vector of an entity seen in some item (others are ignored). All must have the same size.
  Status set_entity_vector(std::string_view entity, std::span<const float> vector);

  UserId user(std::string_view id);
  void set_user_category(UserId user, std::string_view feature, std::span<const std::string_view> values);
  void set_user_number(UserId user, std::string_view feature, float value);

  // A history is stored once and shared: add_history returns a handle; an impression refers to its first
  // `length` entries (so that growing histories are one list).
  using HistoryHandle = std::uint64_t;
  HistoryHandle add_history(std::span<const ItemId> items);
  void add_impression(UserId user, std::int64_t time, Split split, HistoryHandle history,
                      std::uint32_t history_length, std::span<const ItemId> shown,
                      std::span<const std::uint8_t> clicked);

  // Context features are (name, value) pairs; a name that a row leaves out is missing there.
  using Context = std::span<const std::pair<std::string_view, std::string_view>>;
  void add_interaction(UserId user, ItemId item, float rating, std::int64_t time, Context categorical = {},
                       std::span<const std::pair<std::string_view, float>> numeric = {});

  DatasetCounts counts() const;
  // Sorts behaviour by user and (stably) by time, and writes the file atomically into an existing directory.
  Status write(const fs::path& directory) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
