#pragma once
// Collects items and behaviour in any order and writes DIR/dataset.sotto. Importers and generators fill one;
// nothing appears on disk before write(). Not thread-safe.
//
// Wrong use (a number never given out, click marks that do not fit the items shown, an infinite value) is
// kept and told by write(), which then writes nothing. Category values that are empty strings and numbers
// that are NaN are missing values.

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/columns.h"
#include "data/dataset.h"

namespace sotto::data {

// Interactions, histories and impressions while a dataset is being built, and the order in which behaviour is
// stored: by user, then by time; rows of equal time by their ties, those of equal ties as they came.
struct UserOrder {
  std::vector<std::uint64_t> user_offsets;  // rows[user_offsets[u] .. user_offsets[u + 1]) are user u's
  std::vector<std::uint64_t> rows;          // numbers of rows as they were added
};

// What stands before what among rows of one user and time.
struct Tie {
  std::uint64_t hash = 0, content = 0;
  bool operator==(const Tie& other) const { return hash == other.hash && content == other.content; }
  bool operator<(const Tie& other) const {
    return hash != other.hash ? hash < other.hash : content < other.content;
  }
};
using TieOfRow = std::function<Tie(std::uint64_t row)>;

// Linear in rows when they already come in time order. Every users[i] < user_count. Without a function rows
// of equal time stay as they came.
UserOrder order_by_user_and_time(std::span<const UserId> users, std::span<const std::int64_t> times,
                                 std::size_t user_count, const TieOfRow& tie = {});

// values[order[0]], values[order[1]], ...
template <class T>
std::vector<T> in_order(const std::vector<T>& values, std::span<const std::uint64_t> order) {
  std::vector<T> ordered;
  ordered.reserve(order.size());
  for (const std::uint64_t row : order) ordered.push_back(values[row]);
  return ordered;
}

// New numbers by old ones.
struct Renumbering {
  std::vector<std::uint32_t> items, users;
};

// By which ties are broken: published ids, never numbers.
struct TieIds {
  std::uint64_t seed;
  const StringTable &users, &items;
};

// Interactions in any order. The caller has checked users and items. Not thread-safe.
class InteractionColumns {
 public:
  // A rating of NaN is none; infinite ones are refused. The new row has the number size() - 1.
  Status add(UserId user, ItemId item, float rating, std::int64_t time);
  void set_split(std::size_t row, Split split);  // rows that nothing is said of train
  std::size_t size() const { return users_.size(); }
  FeatureColumns& context() { return context_; }
  void renumber(const Renumbering& numbers);
  // Of user and item, then of all else.
  Tie tie(const TieIds& ids, std::uint64_t row) const;
  Status write(BinaryFileWriter& writer, std::size_t user_count, const TieOfRow& tie) const;

 private:
  std::vector<UserId> users_;
  std::vector<ItemId> items_;
  std::vector<float> ratings_;
  std::vector<std::int64_t> times_;
  std::vector<std::uint8_t> splits_;  // of the first rows; empty: nobody gave a split
  FeatureColumns context_;
};

// Impressions in any order. The caller has checked users and items; lengths and marks are checked here. Not
// thread-safe.
class ImpressionColumns {
 public:
  std::uint64_t add_history(std::span<const ItemId> items);
  Status add(UserId user, std::int64_t time, Split split, std::uint64_t history, std::uint32_t history_length,
             std::span<const ItemId> shown, std::span<const std::uint8_t> clicked);
  std::size_t size() const { return users_.size(); }
  std::uint64_t clicks() const { return clicks_; }
  void renumber(const Renumbering& numbers);
  // Of user and clicked items, then of all else.
  Tie tie(const TieIds& ids, std::uint64_t row) const;
  Status write(BinaryFileWriter& writer, std::size_t user_count, const TieOfRow& tie) const;

 private:
  Status write_histories(BinaryFileWriter& writer, std::span<const std::uint64_t> order) const;
  Status write_shown(BinaryFileWriter& writer, std::span<const std::uint64_t> order) const;

  std::vector<std::uint64_t> history_offsets_ = {0};
  std::vector<ItemId> history_items_;

  std::vector<UserId> users_;
  std::vector<std::int64_t> times_;
  std::vector<std::uint8_t> splits_;
  std::vector<std::uint64_t> histories_;
  std::vector<std::uint32_t> history_lengths_;
  std::vector<std::uint64_t> shown_offsets_ = {0};
  std::vector<ItemId> shown_;
  std::vector<std::uint8_t> clicked_;
  std::uint64_t clicks_ = 0;
};

struct EntityMention {
  std::string id, label;
};

struct ItemRecord {
  std::string_view id, title, abstract, category, subcategory;
  std::span<const EntityMention> title_entities = {}, abstract_entities = {};
  // False: a user's row describes it. Nothing that rows say changes an item of the public catalogue.
  bool in_public_catalogue = true;
};

class DatasetBuilder {
 public:
  DatasetBuilder(std::string name, std::string origin);
  ~DatasetBuilder();
  DatasetBuilder(DatasetBuilder&&) noexcept;
  DatasetBuilder& operator=(DatasetBuilder&&) noexcept;

  // Adds an item or, when the id is known, completes it (first non-empty text wins). Returns its number.
  ItemId add_item(const ItemRecord& item);
  // The number of an item; an unknown id becomes an item without text, outside the public catalogue.
  ItemId item(std::string_view id);
  std::uint64_t items_without_text() const;
  std::uint64_t public_items() const;
  bool is_public(ItemId item) const;
  std::string_view item_id(ItemId item) const;  // valid until the next item
  void set_item_category(ItemId item, std::string_view feature, std::span<const std::string_view> values);
  void set_item_number(ItemId item, std::string_view feature, float value);
  // Vector of an entity seen in some item (others are ignored). All must have the same size.
  Status set_entity_vector(std::string_view entity, std::span<const float> vector);

  UserId user(std::string_view id);
  std::string_view user_id(UserId user) const;  // valid until the next user
  // The values of a categorical feature that are a public list; to be called before any is set.
  void declare_user_category(std::string_view feature, std::span<const std::string_view> values);
  void declare_context(std::string_view feature, std::span<const std::string_view> values);
  void set_user_category(UserId user, std::string_view feature, std::span<const std::string_view> values);
  void set_user_number(UserId user, std::string_view feature, float value);

  // A history is stored once and shared: add_history returns a handle; an impression refers to its first
  // `length` entries (so that growing histories are one list).
  using HistoryHandle = std::uint64_t;
  HistoryHandle add_history(std::span<const ItemId> items);
  void add_impression(UserId user, std::int64_t time, Split split, HistoryHandle history,
                      std::uint32_t history_length, std::span<const ItemId> shown,
                      std::span<const std::uint8_t> clicked);

  void set_training_non_clicks(NonClicks origin);
  void set_split_origin(SplitOrigin origin);

  // Context features are (name, value) pairs; a name that a row leaves out is missing there.
  using Context = std::span<const std::pair<std::string_view, std::string_view>>;
  void add_interaction(UserId user, ItemId item, float rating, std::int64_t time, Context categorical = {},
                       std::span<const std::pair<std::string_view, float>> numeric = {});
  // The same of a source that says which of its rows test.
  void add_split_interaction(UserId user, ItemId item, Split split);

  DatasetCounts counts() const;
  // Makes what is written independent of the order in which rows came: items (those of the public catalogue
  // first), users and values of features are numbered by their ids, and rows of one user and time are ordered
  // by a hash of the seed and the ids of user and item. Numbers given out before are no longer valid; the new
  // ones are returned.
  Renumbering forget_row_order(std::uint64_t seed);
  // Sorts behaviour by user and (stably, unless row order is to be forgotten) by time, and writes the file
  // atomically into an existing directory.
  Status write(const fs::path& directory) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The item catalogue while a dataset is being built.

// Items in any order and in several parts; see DatasetBuilder for what the calls mean. Not thread-safe.
class CatalogueColumns {
 public:
  CatalogueColumns();
  ItemId add(const ItemRecord& item);
  ItemId number(std::string_view id);
  std::size_t size() const { return ids_.size(); }
  const StringTable& ids() const { return ids_; }
  bool is_public(ItemId item) const { return items_[item].is_public; }
  std::uint64_t without_text() const { return without_text_; }
  std::vector<std::uint32_t> sort();  // new numbers by old ones
  Status set_entity_vector(std::string_view entity, std::span<const float> vector);
  FeatureColumns& features() { return features_; }
  Status write(BinaryFileWriter& writer) const;

 private:
  struct Item {
    std::string title, abstract;
    std::uint32_t category = 0, subcategory = 0;
    std::vector<std::uint32_t> title_entities, abstract_entities;
    bool is_public = false;
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

}  // namespace sotto::data
