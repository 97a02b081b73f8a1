#include "data/dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/columns.h"
#include "data/dataset_sections.h"

namespace sotto::data {

const CategoricalFeature* Features::find_categorical(std::string_view name) const {
  const auto found = std::find_if(categorical.begin(), categorical.end(),
                                  [&](const CategoricalFeature& feature) { return feature.name == name; });
  return found == categorical.end() ? nullptr : &*found;
}

const NumericFeature* Features::find_numeric(std::string_view name) const {
  const auto found = std::find_if(numeric.begin(), numeric.end(),
                                  [&](const NumericFeature& feature) { return feature.name == name; });
  return found == numeric.end() ? nullptr : &*found;
}

std::size_t Catalogue::public_count() const {
  return static_cast<std::size_t>(std::count(is_public.begin(), is_public.end(), std::uint8_t{1}));
}

namespace sections = dataset_sections;

namespace {

Status check_at_most(std::string_view name, std::span<const std::uint8_t> values, std::uint8_t limit) {
  const auto wrong =
      std::find_if(values.begin(), values.end(), [&](std::uint8_t value) { return value > limit; });
  if (wrong == values.end()) return {};
  return bad_input("section '{}': a value is {}, at most {} is possible", name, *wrong, limit);
}

Status check_dictionary(std::string_view name, const StringColumn& dictionary) {
  if (dictionary.size() == 0 || !dictionary[0].empty()) {
    return bad_input("section '{}': the first name must be the empty one, which stands for unknown", name);
  }
  return {};
}

Result<Catalogue> read_catalogue(const ColumnReader& columns) {
  Catalogue catalogue;
  SOTTO_TRY(catalogue.ids, columns.strings(sections::item_ids));
  const std::size_t items = catalogue.ids.size();
  SOTTO_TRY(catalogue.is_public, columns.values<std::uint8_t>(sections::item_public, items));
  SOTTO_CHECK(check_at_most(sections::item_public, catalogue.is_public, 1));
  SOTTO_TRY(catalogue.titles, columns.strings(sections::titles, items));
  SOTTO_TRY(catalogue.abstracts, columns.strings(sections::abstracts, items));

  SOTTO_TRY(catalogue.category_names, columns.strings(sections::category_names));
  SOTTO_CHECK(check_dictionary(sections::category_names, catalogue.category_names));
  SOTTO_TRY(catalogue.categories,
            columns.codes(sections::categories, catalogue.category_names.size(), items));
  SOTTO_TRY(catalogue.subcategory_names, columns.strings(sections::subcategory_names));
  SOTTO_CHECK(check_dictionary(sections::subcategory_names, catalogue.subcategory_names));
  SOTTO_TRY(catalogue.subcategories,
            columns.codes(sections::subcategories, catalogue.subcategory_names.size(), items));

  SOTTO_TRY(catalogue.entity_ids, columns.strings(sections::entity_ids));
  const std::size_t entities = catalogue.entity_ids.size();
  SOTTO_TRY(catalogue.entity_labels, columns.strings(sections::entity_labels, entities));
  SOTTO_TRY(catalogue.title_entities, columns.code_lists(sections::title_entities, items, entities));
  SOTTO_TRY(catalogue.abstract_entities, columns.code_lists(sections::abstract_entities, items, entities));

  SOTTO_TRY(const auto dimension, columns.values<std::uint32_t>(sections::entity_dimension, 1));
  catalogue.entity_dimension = dimension[0];
  SOTTO_TRY(catalogue.entity_vectors, columns.values<float>(sections::entity_vectors));
  const std::size_t numbers = catalogue.entity_vectors.size();
  // By division: the product of two hostile numbers may wrap around.
  const bool fits =
      dimension[0] == 0 ? numbers == 0 : numbers % dimension[0] == 0 && numbers / dimension[0] == entities;
  if (!fits) {
    return bad_input("section '{}': {} numbers are not {} vectors of {}", sections::entity_vectors, numbers,
                     entities, dimension[0]);
  }
  if (!std::all_of(catalogue.entity_vectors.begin(), catalogue.entity_vectors.end(),
                   [](float value) { return std::isfinite(value); })) {
    return bad_input("section '{}': a number is not finite", sections::entity_vectors);
  }

  SOTTO_TRY(catalogue.features, columns.features(sections::item_features, items));
  return catalogue;
}

// `offsets` has been checked against the length of `times`.
Status check_time_order(std::string_view name, std::span<const std::uint64_t> offsets,
                        std::span<const std::int64_t> times) {
  for (std::size_t user = 0; user + 1 < offsets.size(); ++user) {
    const auto of_user = times.subspan(offsets[user], offsets[user + 1] - offsets[user]);
    if (!std::is_sorted(of_user.begin(), of_user.end())) {
      return bad_input("section '{}': user {} is not in time order", name, user);
    }
  }
  return {};
}

Status check_users(const ImpressionTable& table) {
  for (std::size_t user = 0; user + 1 < table.user_offsets.size(); ++user) {
    for (std::size_t row = table.user_offsets[user]; row < table.user_offsets[user + 1]; ++row) {
      if (table.users[row] != user) {
        return bad_input("section '{}': impression {} is user {}'s but stands among user {}'s",
                         sections::impression_users, row, table.users[row], user);
      }
    }
  }
  return {};
}

Status check_histories(const ImpressionTable& table) {
  for (std::size_t row = 0; row < table.history_starts.size(); ++row) {
    const std::uint64_t start = table.history_starts[row];
    if (start > table.histories.size() || table.history_lengths[row] > table.histories.size() - start) {
      return bad_input("section '{}': the history of impression {} ends beyond the {} stored clicks",
                       sections::impression_history_lengths, row, table.histories.size());
    }
  }
  return {};
}

Result<ImpressionTable> read_impressions(const ColumnReader& columns, std::size_t users, std::size_t items) {
  ImpressionTable table;
  SOTTO_TRY(table.users, columns.values<UserId>(sections::impression_users));
  const std::size_t rows = table.users.size();
  if (rows > std::numeric_limits<std::uint32_t>::max()) {
    return bad_input("section '{}': {} impressions, more than 32 bits can number", sections::impression_users,
                     rows);
  }
  SOTTO_TRY(table.user_offsets, columns.offsets(sections::impression_user_offsets, users, rows));
  SOTTO_CHECK(check_users(table));
  SOTTO_TRY(table.times, columns.values<std::int64_t>(sections::impression_times, rows));
  SOTTO_CHECK(check_time_order(sections::impression_times, table.user_offsets, table.times));
  SOTTO_TRY(table.splits, columns.values<std::uint8_t>(sections::impression_splits, rows));
  SOTTO_CHECK(
      check_at_most(sections::impression_splits, table.splits, static_cast<std::uint8_t>(Split::test)));

  SOTTO_TRY(table.histories, columns.codes(sections::histories, items));
  SOTTO_TRY(table.history_starts, columns.values<std::uint64_t>(sections::impression_history_starts, rows));
  SOTTO_TRY(table.history_lengths, columns.values<std::uint32_t>(sections::impression_history_lengths, rows));
  SOTTO_CHECK(check_histories(table));

  SOTTO_TRY(table.shown, columns.codes(sections::impression_shown, items));
  SOTTO_TRY(table.shown_offsets,
            columns.offsets(sections::impression_shown_offsets, rows, table.shown.size()));
  SOTTO_TRY(table.clicked, columns.values<std::uint8_t>(sections::impression_clicked, table.shown.size()));
  SOTTO_CHECK(check_at_most(sections::impression_clicked, table.clicked, 1));
  SOTTO_TRY(const auto non_clicks, columns.values<std::uint8_t>(sections::training_non_clicks, 1));
  SOTTO_CHECK(check_at_most(sections::training_non_clicks, non_clicks,
                            static_cast<std::uint8_t>(NonClicks::all_users)));
  table.training_non_clicks = static_cast<NonClicks>(non_clicks[0]);
  table.split_origin = SplitOrigin::all_users;
  if (columns.file().has(sections::split_origin)) {
    SOTTO_TRY(const auto origin, columns.values<std::uint8_t>(sections::split_origin, 1));
    SOTTO_CHECK(
        check_at_most(sections::split_origin, origin, static_cast<std::uint8_t>(SplitOrigin::all_users)));
    table.split_origin = static_cast<SplitOrigin>(origin[0]);
  }
  return table;
}

Result<Interactions> read_interactions(const ColumnReader& columns, std::size_t users, std::size_t items) {
  Interactions interactions;
  SOTTO_TRY(interactions.items, columns.codes(sections::interaction_items, items));
  const std::size_t rows = interactions.items.size();
  SOTTO_TRY(interactions.user_offsets, columns.offsets(sections::interaction_user_offsets, users, rows));
  SOTTO_TRY(interactions.ratings, columns.finite_or_missing(sections::interaction_ratings, rows));
  SOTTO_TRY(interactions.times, columns.values<std::int64_t>(sections::interaction_times, rows));
  SOTTO_CHECK(check_time_order(sections::interaction_times, interactions.user_offsets, interactions.times));
  if (columns.file().has(sections::interaction_splits)) {
    SOTTO_TRY(interactions.splits, columns.values<std::uint8_t>(sections::interaction_splits, rows));
    SOTTO_CHECK(check_at_most(sections::interaction_splits, interactions.splits,
                              static_cast<std::uint8_t>(Split::test)));
  }
  SOTTO_TRY(interactions.context, columns.features(sections::context_features, rows));
  return interactions;
}

}  // namespace

namespace {

Result<DatasetParts> read_parts(const BinaryFileReader& file) {
  DatasetParts parts;
  const ColumnReader columns(file);
  SOTTO_TRY(const std::string_view name_text, file.text(sections::name));
  parts.name = name_text;
  SOTTO_TRY(const std::string_view origin_text, file.text(sections::origin));
  parts.origin = origin_text;
  SOTTO_TRY(parts.catalogue, read_catalogue(columns));
  SOTTO_TRY(parts.user_ids, columns.strings(sections::user_ids));
  const std::size_t users = parts.user_ids.size(), items = parts.catalogue.size();
  SOTTO_TRY(parts.user_features, columns.features(sections::user_features, users));
  SOTTO_TRY(parts.impressions, read_impressions(columns, users, items));
  SOTTO_TRY(parts.interactions, read_interactions(columns, users, items));
  return parts;
}

}  // namespace

struct Dataset::Storage {
  DatasetParts parts;
  std::uint64_t clicks = 0;
};

Result<Dataset> Dataset::open(const fs::path& directory) {
  const fs::path path = directory / sections::file_name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    if (fs::is_regular_file(directory, ignored))
      return bad_input("{} is a file: name the folder of the data set that it belongs to, for example {}",
                       directory.string(),
                       directory.has_parent_path() ? directory.parent_path().string() : ".");
    if (fs::exists(directory / "run.json", ignored))
      return bad_input("{} is the folder of a run: name the folder of its data set here", directory.string());
    return bad_input(
        "{} holds no dataset ({} is missing): make one with 'sotto data import' or 'sotto data generate'",
        directory.string(), sections::file_name);
  }
  SOTTO_TRY(BinaryFileReader reader, BinaryFileReader::open(path, sections::kind, sections::version));
  const auto file = std::make_shared<const BinaryFileReader>(std::move(reader));
  auto parts = read_parts(*file);
  if (!parts) {
    Error error = std::move(parts.error()).in(path.string());
    error.message += "; the file is damaged, import or generate it again";
    return tl::unexpected(std::move(error));
  }
  parts->memory = file;
  return Dataset(std::move(*parts));
}

Dataset::Dataset(DatasetParts parts) : storage_(std::make_unique<Storage>(Storage{std::move(parts)})) {
  const auto& clicked = storage_->parts.impressions.clicked;
  storage_->clicks = static_cast<std::uint64_t>(std::count(clicked.begin(), clicked.end(), std::uint8_t{1}));
}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

const DatasetParts& Dataset::parts() const { return storage_->parts; }
const std::string& Dataset::name() const { return parts().name; }
const std::string& Dataset::origin() const { return parts().origin; }
const Catalogue& Dataset::catalogue() const { return parts().catalogue; }
StringColumn Dataset::user_ids() const { return parts().user_ids; }
const Features& Dataset::user_features() const { return parts().user_features; }
const Interactions& Dataset::interactions() const { return parts().interactions; }
std::size_t Dataset::impression_count() const { return parts().impressions.users.size(); }

Impression Dataset::impression(std::size_t index) const {
  const ImpressionTable& table = parts().impressions;
  const std::uint64_t first = table.shown_offsets[index], count = table.shown_offsets[index + 1] - first;
  return {.user = table.users[index],
          .time = table.times[index],
          .split = static_cast<Split>(table.splits[index]),
          .history = table.histories.subspan(table.history_starts[index], table.history_lengths[index]),
          .shown = table.shown.subspan(first, count),
          .clicked = table.clicked.subspan(first, count)};
}

std::pair<std::size_t, std::size_t> Dataset::impressions_of(UserId user) const {
  const auto& offsets = parts().impressions.user_offsets;
  return {offsets[user], offsets[user + std::size_t{1}]};
}

DatasetCounts Dataset::counts() const {
  return {.users = user_count(),
          .items = item_count(),
          .interactions = interactions().size(),
          .impressions = impression_count(),
          .clicks = storage_->clicks};
}

}  // namespace sotto::data
