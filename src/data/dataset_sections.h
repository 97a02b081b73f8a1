#pragma once
// Names of the sections of dataset.sotto, shared by the writer and the reader. A string column NAME is the
// pair NAME.offsets (u64) and NAME.bytes; a list column is NAME.offsets (u64) and NAME.values. Names of
// features come from outside, so they are rows of a string column and never part of a section name.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sotto::data::dataset_sections {

inline constexpr std::string_view file_name = "dataset.sotto";
inline constexpr std::string_view kind = "dataset";
inline constexpr std::uint32_t version = 2;

inline constexpr std::string_view name = "name";
inline constexpr std::string_view origin = "origin";

inline constexpr std::string_view item_ids = "item.ids";
inline constexpr std::string_view item_public = "item.public";
inline constexpr std::string_view titles = "item.titles";
inline constexpr std::string_view abstracts = "item.abstracts";
inline constexpr std::string_view category_names = "item.category_names";
inline constexpr std::string_view categories = "item.categories";
inline constexpr std::string_view subcategory_names = "item.subcategory_names";
inline constexpr std::string_view subcategories = "item.subcategories";
inline constexpr std::string_view title_entities = "item.title_entities";
inline constexpr std::string_view abstract_entities = "item.abstract_entities";

inline constexpr std::string_view entity_ids = "entity.ids";
inline constexpr std::string_view entity_labels = "entity.labels";
inline constexpr std::string_view entity_dimension = "entity.dimension";
inline constexpr std::string_view entity_vectors = "entity.vectors";

inline constexpr std::string_view user_ids = "user.ids";

inline constexpr std::string_view histories = "history.items";
inline constexpr std::string_view impression_user_offsets = "impression.user_offsets";
inline constexpr std::string_view impression_users = "impression.users";
inline constexpr std::string_view impression_times = "impression.times";
inline constexpr std::string_view impression_splits = "impression.splits";
inline constexpr std::string_view impression_history_starts = "impression.history_starts";
inline constexpr std::string_view impression_history_lengths = "impression.history_lengths";
inline constexpr std::string_view impression_shown_offsets = "impression.shown_offsets";
inline constexpr std::string_view impression_shown = "impression.shown";
inline constexpr std::string_view impression_clicked = "impression.clicked";
inline constexpr std::string_view training_non_clicks = "impression.training_non_clicks";
// Where it is missing nobody vouched for the cut: it counts as one by all users.
inline constexpr std::string_view split_origin = "impression.split_origin";

inline constexpr std::string_view interaction_user_offsets = "interaction.user_offsets";
inline constexpr std::string_view interaction_items = "interaction.items";
inline constexpr std::string_view interaction_ratings = "interaction.ratings";
inline constexpr std::string_view interaction_times = "interaction.times";
// Left out where the source gives no split.
inline constexpr std::string_view interaction_splits = "interaction.splits";

// Owners of features.
inline constexpr std::string_view item_features = "item";
inline constexpr std::string_view user_features = "user";
inline constexpr std::string_view context_features = "interaction";

// Each feature needs its own sections; the limit keeps a hostile table from costing quadratic time.
inline constexpr std::size_t max_features = 4096;

inline std::string offsets_of(std::string_view column) { return fmt::format("{}.offsets", column); }
inline std::string bytes_of(std::string_view column) { return fmt::format("{}.bytes", column); }
inline std::string values_of(std::string_view column) { return fmt::format("{}.values", column); }

inline std::string categorical_list(std::string_view owner) { return fmt::format("{}.categorical", owner); }
inline std::string categorical_names(std::string_view owner, std::size_t feature) {
  return fmt::format("{}.categorical.{}.names", owner, feature);
}
inline std::string categorical_codes(std::string_view owner, std::size_t feature) {
  return fmt::format("{}.categorical.{}.codes", owner, feature);
}
inline std::string categorical_declared(std::string_view owner, std::size_t feature) {
  return fmt::format("{}.categorical.{}.declared", owner, feature);
}
inline std::string numeric_list(std::string_view owner) { return fmt::format("{}.numeric", owner); }
inline std::string numeric_values(std::string_view owner, std::size_t feature) {
  return fmt::format("{}.numeric.{}", owner, feature);
}

}  // namespace sotto::data::dataset_sections
