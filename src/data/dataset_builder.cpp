#include "data/dataset_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/binary_file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "data/columns.h"
#include "data/dataset_sections.h"
#include "data/user_draws.h"

namespace sotto::data {

namespace {

// Sorts runs of equal times; keys are made for those rows alone.
template <class Row>
void break_ties(Row first, Row last, std::span<const std::int64_t> times, const TieOfRow& tie) {
  std::vector<std::pair<Tie, std::uint64_t>> run;
  while (first != last) {
    const Row end = std::find_if(first, last, [&](std::uint64_t row) { return times[row] != times[*first]; });
    if (end - first > 1) {
      run.clear();
      for (Row row = first; row != end; ++row) run.emplace_back(tie(*row), *row);
      std::stable_sort(run.begin(), run.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      std::transform(run.begin(), run.end(), first, [](const auto& entry) { return entry.second; });
    }
    first = end;
  }
}

}  // namespace

UserOrder order_by_user_and_time(std::span<const UserId> users, std::span<const std::int64_t> times,
                                 std::size_t user_count, const TieOfRow& tie) {
  UserOrder order;
  order.user_offsets.assign(user_count + 1, 0);
  for (const UserId user : users) ++order.user_offsets[user + std::size_t{1}];
  for (std::size_t user = 0; user < user_count; ++user) {
    order.user_offsets[user + 1] += order.user_offsets[user];
  }

  order.rows.resize(users.size());
  std::vector<std::uint64_t> next(order.user_offsets.begin(), order.user_offsets.end() - 1);
  for (std::size_t row = 0; row < users.size(); ++row) order.rows[next[users[row]]++] = row;

  const auto earlier = [&](std::uint64_t left, std::uint64_t right) { return times[left] < times[right]; };
  for (std::size_t user = 0; user < user_count; ++user) {
    const auto first = order.rows.begin() + static_cast<std::ptrdiff_t>(order.user_offsets[user]);
    const auto last = order.rows.begin() + static_cast<std::ptrdiff_t>(order.user_offsets[user + 1]);
    if (!std::is_sorted(first, last, earlier)) std::stable_sort(first, last, earlier);
    if (tie) break_ties(first, last, times, tie);
  }
  return order;
}

namespace sections = dataset_sections;

Status InteractionColumns::add(UserId user, ItemId item, float rating, std::int64_t time) {
  if (std::isinf(rating)) return bad_input("the rating of an interaction is infinite; leave it out instead");
  users_.push_back(user);
  items_.push_back(item);
  ratings_.push_back(rating);
  times_.push_back(time);
  return {};
}

void InteractionColumns::set_split(std::size_t row, Split split) {
  if (splits_.size() <= row) splits_.resize(row + 1, static_cast<std::uint8_t>(Split::train));
  splits_[row] = static_cast<std::uint8_t>(split);
}

void InteractionColumns::renumber(const Renumbering& numbers) {
  for (UserId& user : users_) user = numbers.users[user];
  for (ItemId& item : items_) item = numbers.items[item];
  context_.sort_values();
}

Tie InteractionColumns::tie(const TieIds& ids, std::uint64_t row) const {
  const float rating = ratings_[row];
  const std::string_view bytes(reinterpret_cast<const char*>(&rating), sizeof(rating));
  const std::uint64_t split = row < splits_.size() ? splits_[row] : 0;
  return {tie_of(ids.seed, ids.users[users_[row]], ids.items[items_[row]]),
          hash_of_text(context_.hash_of_row(row), bytes) + split};
}

Status InteractionColumns::write(BinaryFileWriter& writer, std::size_t user_count,
                                 const TieOfRow& tie) const {
  const UserOrder order = order_by_user_and_time(users_, times_, user_count, tie);
  SOTTO_CHECK(writer.add(sections::interaction_user_offsets, order.user_offsets));
  SOTTO_CHECK(writer.add(sections::interaction_items, in_order(items_, order.rows)));
  SOTTO_CHECK(writer.add(sections::interaction_ratings, in_order(ratings_, order.rows)));
  SOTTO_CHECK(writer.add(sections::interaction_times, in_order(times_, order.rows)));
  if (!splits_.empty()) {
    std::vector<std::uint8_t> splits = splits_;
    splits.resize(size(), static_cast<std::uint8_t>(Split::train));
    SOTTO_CHECK(writer.add(sections::interaction_splits, in_order(splits, order.rows)));
  }
  return context_.write(writer, sections::context_features, size(), order.rows);
}

namespace sections = dataset_sections;

namespace {

// Lists back to back, taken in another order.
template <class T>
std::vector<T> lists_in_order(const std::vector<T>& values, const std::vector<std::uint64_t>& offsets,
                              std::span<const std::uint64_t> order) {
  std::vector<T> ordered;
  ordered.reserve(values.size());
  for (const std::uint64_t row : order) {
    const auto list = std::span(values).subspan(offsets[row], offsets[row + 1] - offsets[row]);
    ordered.insert(ordered.end(), list.begin(), list.end());
  }
  return ordered;
}

}  // namespace

std::uint64_t ImpressionColumns::add_history(std::span<const ItemId> items) {
  history_items_.insert(history_items_.end(), items.begin(), items.end());
  history_offsets_.push_back(history_items_.size());
  return history_offsets_.size() - 2;
}

Status ImpressionColumns::add(UserId user, std::int64_t time, Split split, std::uint64_t history,
                              std::uint32_t history_length, std::span<const ItemId> shown,
                              std::span<const std::uint8_t> clicked) {
  if (history >= history_offsets_.size() - 1)
    return bad_input("an impression names a history that was never added");
  const std::uint64_t available = history_offsets_[history + 1] - history_offsets_[history];
  if (history_length > available) {
    return bad_input("an impression wants {} clicks of a history of {}", history_length, available);
  }
  if (shown.size() != clicked.size()) {
    return bad_input("an impression shows {} items but marks {} as clicked or not", shown.size(),
                     clicked.size());
  }
  if (std::any_of(clicked.begin(), clicked.end(), [](std::uint8_t mark) { return mark > 1; })) {
    return bad_input("a click mark of an impression is neither 0 nor 1");
  }
  users_.push_back(user);
  times_.push_back(time);
  splits_.push_back(static_cast<std::uint8_t>(split));
  histories_.push_back(history);
  history_lengths_.push_back(history_length);
  shown_.insert(shown_.end(), shown.begin(), shown.end());
  clicked_.insert(clicked_.end(), clicked.begin(), clicked.end());
  shown_offsets_.push_back(shown_.size());
  clicks_ += static_cast<std::uint64_t>(std::count(clicked.begin(), clicked.end(), std::uint8_t{1}));
  return {};
}

void ImpressionColumns::renumber(const Renumbering& numbers) {
  for (UserId& user : users_) user = numbers.users[user];
  for (ItemId& item : history_items_) item = numbers.items[item];
  for (ItemId& item : shown_) item = numbers.items[item];
}

Tie ImpressionColumns::tie(const TieIds& ids, std::uint64_t row) const {
  Tie tie{hash_of_text(ids.seed, ids.users[users_[row]]), splits_[row]};
  for (std::uint64_t place = shown_offsets_[row]; place < shown_offsets_[row + 1]; ++place) {
    const std::string_view id = ids.items[shown_[place]];
    if (clicked_[place] != 0) tie.hash = hash_of_text(tie.hash, id);
    tie.content = hash_of_text(tie.content + clicked_[place], id);
  }
  const std::uint64_t history = history_offsets_[histories_[row]];
  for (std::uint64_t place = history; place < history + history_lengths_[row]; ++place)
    tie.content = hash_of_text(tie.content, ids.items[history_items_[place]]);
  return tie;
}

Status ImpressionColumns::write(BinaryFileWriter& writer, std::size_t user_count, const TieOfRow& tie) const {
  const UserOrder order = order_by_user_and_time(users_, times_, user_count, tie);
  SOTTO_CHECK(writer.add(sections::impression_user_offsets, order.user_offsets));
  SOTTO_CHECK(writer.add(sections::impression_users, in_order(users_, order.rows)));
  SOTTO_CHECK(writer.add(sections::impression_times, in_order(times_, order.rows)));
  SOTTO_CHECK(writer.add(sections::impression_splits, in_order(splits_, order.rows)));
  SOTTO_CHECK(write_histories(writer, order.rows));
  return write_shown(writer, order.rows);
}

// Histories are stored in the order of the users who need them, and no further than the longest prefix
// needed.
Status ImpressionColumns::write_histories(BinaryFileWriter& writer,
                                          std::span<const std::uint64_t> order) const {
  std::vector<std::uint32_t> needed(history_offsets_.size() - 1, 0);
  for (std::size_t row = 0; row < size(); ++row) {
    needed[histories_[row]] = std::max(needed[histories_[row]], history_lengths_[row]);
  }
  constexpr auto unplaced = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> placed(needed.size(), unplaced);
  std::vector<ItemId> items;
  std::vector<std::uint64_t> starts;
  starts.reserve(order.size());
  for (const std::uint64_t row : order) {
    const std::uint64_t history = histories_[row];
    if (placed[history] == unplaced) {
      placed[history] = items.size();
      const auto prefix = std::span(history_items_).subspan(history_offsets_[history], needed[history]);
      items.insert(items.end(), prefix.begin(), prefix.end());
    }
    starts.push_back(placed[history]);
  }
  SOTTO_CHECK(writer.add(sections::histories, items));
  SOTTO_CHECK(writer.add(sections::impression_history_starts, starts));
  return writer.add(sections::impression_history_lengths, in_order(history_lengths_, order));
}

Status ImpressionColumns::write_shown(BinaryFileWriter& writer, std::span<const std::uint64_t> order) const {
  std::vector<std::uint64_t> offsets = {0};
  offsets.reserve(order.size() + 1);
  for (const std::uint64_t row : order) {
    offsets.push_back(offsets.back() + shown_offsets_[row + 1] - shown_offsets_[row]);
  }
  SOTTO_CHECK(writer.add(sections::impression_shown_offsets, offsets));
  SOTTO_CHECK(writer.add(sections::impression_shown, lists_in_order(shown_, shown_offsets_, order)));
  return writer.add(sections::impression_clicked, lists_in_order(clicked_, shown_offsets_, order));
}

namespace sections = dataset_sections;

struct DatasetBuilder::State {
  std::string name, origin;
  CatalogueColumns catalogue;
  StringTable user_ids;
  FeatureColumns user_features;
  ImpressionColumns impressions;
  InteractionColumns interactions;
  NonClicks training_non_clicks = NonClicks::recorded;
  SplitOrigin split_origin = SplitOrigin::public_or_own;
  std::optional<std::uint64_t> tie_seed;  // of a builder that forgets the order of rows
  Status problem;                         // the first wrong use, told by write()

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
bool DatasetBuilder::is_public(ItemId item) const { return state_->catalogue.is_public(item); }
std::string_view DatasetBuilder::item_id(ItemId item) const { return state_->catalogue.ids()[item]; }
std::uint64_t DatasetBuilder::public_items() const {
  std::uint64_t count = 0;
  for (ItemId item = 0; item < state_->catalogue.size(); ++item) count += is_public(item) ? 1 : 0;
  return count;
}

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
std::string_view DatasetBuilder::user_id(UserId user) const { return state_->user_ids[user]; }

void DatasetBuilder::declare_user_category(std::string_view feature,
                                           std::span<const std::string_view> values) {
  state_->user_features.declare(feature, values);
}

void DatasetBuilder::declare_context(std::string_view feature, std::span<const std::string_view> values) {
  state_->interactions.context().declare(feature, values);
}

void DatasetBuilder::set_training_non_clicks(NonClicks origin) { state_->training_non_clicks = origin; }
void DatasetBuilder::set_split_origin(SplitOrigin origin) { state_->split_origin = origin; }

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

void DatasetBuilder::add_split_interaction(UserId user, ItemId item, Split split) {
  const std::size_t row = state_->interactions.size();
  add_interaction(user, item, std::numeric_limits<float>::quiet_NaN(), 0);
  if (state_->interactions.size() > row) state_->interactions.set_split(row, split);
}

DatasetCounts DatasetBuilder::counts() const {
  return {.users = state_->user_ids.size(),
          .items = state_->catalogue.size(),
          .interactions = state_->interactions.size(),
          .impressions = state_->impressions.size(),
          .clicks = state_->impressions.clicks()};
}

Renumbering DatasetBuilder::forget_row_order(std::uint64_t seed) {
  state_->tie_seed = seed;
  Renumbering numbers{state_->catalogue.sort(), state_->user_ids.sort_after(0)};
  state_->user_features.renumber_rows(numbers.users);
  state_->user_features.sort_values();
  state_->interactions.renumber(numbers);
  state_->impressions.renumber(numbers);
  return numbers;
}

Status DatasetBuilder::write(const fs::path& directory) const {
  SOTTO_CHECK(state_->problem);
  const TieIds ids{state_->tie_seed.value_or(0), state_->user_ids, state_->catalogue.ids()};
  const auto ties_of = [&](const auto& rows) {
    return state_->tie_seed ? TieOfRow([&](std::uint64_t row) { return rows.tie(ids, row); }) : TieOfRow();
  };
  SOTTO_TRY(BinaryFileWriter writer,
            BinaryFileWriter::create(directory / sections::file_name, sections::kind, sections::version));
  SOTTO_CHECK(writer.add_text(sections::name, state_->name));
  SOTTO_CHECK(writer.add_text(sections::origin, state_->origin));
  constexpr std::uint64_t parts = 4;
  Progress progress("writing the data set", parts, "parts");
  const auto part = [&](const Status& written) -> Status {
    SOTTO_CHECK(written);
    progress.advance();
    return interrupted() ? failed("interrupted: no data set was written") : Status();
  };
  SOTTO_CHECK(part(state_->catalogue.write(writer)));
  SOTTO_CHECK(write_strings(writer, sections::user_ids, state_->user_ids));
  SOTTO_CHECK(part(state_->user_features.write(writer, sections::user_features, state_->user_ids.size())));
  SOTTO_CHECK(part(state_->impressions.write(writer, state_->user_ids.size(), ties_of(state_->impressions))));
  SOTTO_CHECK(writer.add(sections::training_non_clicks,
                         std::vector{static_cast<std::uint8_t>(state_->training_non_clicks)}));
  SOTTO_CHECK(
      writer.add(sections::split_origin, std::vector{static_cast<std::uint8_t>(state_->split_origin)}));
  SOTTO_CHECK(
      part(state_->interactions.write(writer, state_->user_ids.size(), ties_of(state_->interactions))));
  return writer.commit();
}

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
  if (record.in_public_catalogue && !item.is_public) item = {.is_public = true};
  if (!record.in_public_catalogue && item.is_public) return number_of_item;
  if (item.title.empty()) item.title = record.title;
  if (item.abstract.empty()) item.abstract = record.abstract;
  if (item.category == 0) item.category = category_names_.intern(record.category);
  if (item.subcategory == 0) item.subcategory = subcategory_names_.intern(record.subcategory);
  complete_entities(item.title_entities, record.title_entities);
  complete_entities(item.abstract_entities, record.abstract_entities);
  if (!had_text && item.has_text()) --without_text_;
  if (had_text && !item.has_text()) ++without_text_;
  return number_of_item;
}

std::vector<std::uint32_t> CatalogueColumns::sort() {
  const auto new_categories = category_names_.sort_after(1),
             new_subcategories = subcategory_names_.sort_after(1);
  const auto new_entities = entity_ids_.sort_after(0);
  auto new_items = ids_.sort([&](std::uint32_t left, std::uint32_t right) {
    return items_[left].is_public && !items_[right].is_public;
  });
  std::vector<Item> items(items_.size());
  for (std::size_t old = 0; old < items_.size(); ++old) {
    Item& item = items[new_items[old]] = std::move(items_[old]);
    item.category = new_categories[item.category];
    item.subcategory = new_subcategories[item.subcategory];
    for (std::uint32_t& entity : item.title_entities) entity = new_entities[entity];
    for (std::uint32_t& entity : item.abstract_entities) entity = new_entities[entity];
  }
  items_ = std::move(items);
  std::vector<std::string> labels(entity_labels_.size());
  std::vector<float> vectors(entity_ids_.size() * entity_dimension_);
  for (std::size_t old = 0; old < labels.size(); ++old) {
    labels[new_entities[old]] = std::move(entity_labels_[old]);
    for (std::size_t i = 0; i < entity_dimension_ && old * entity_dimension_ < entity_vectors_.size(); ++i)
      vectors[new_entities[old] * entity_dimension_ + i] = entity_vectors_[old * entity_dimension_ + i];
  }
  entity_labels_ = std::move(labels);
  entity_vectors_ = std::move(vectors);
  features_.renumber_rows(new_items);
  features_.sort_values();
  return new_items;
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
  std::vector<std::uint8_t> is_public(rows);
  std::transform(items_.begin(), items_.end(), is_public.begin(),
                 [](const Item& item) { return item.is_public ? 1 : 0; });
  SOTTO_CHECK(writer.add(sections::item_public, is_public));
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

}  // namespace sotto::data
