#pragma once
// The same users and items with their behaviour in another form, so that every recipe can train on them:
//
//   interactions  of impressions: what each user clicked or had in a history, every item once, at the time of
//                 its first click; without time where only a history tells
//   impressions   of interactions: every liked item among drawn ones (impression_view.h)
//   text          the same, of items with text: where an item has no abstract, the values of its features
//   that
//                 items can have several of (genres, tags) are read as words
//
// A user's rows in a view follow from that user's rows, the public catalogue and the seed alone, unless
// sampling=popularity is asked for; equal times are ordered by a hash of user and item.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/settings.h"
#include "data/dataset.h"
#include "data/dataset_builder.h"

namespace sotto::data {

inline constexpr std::array<std::string_view, 3> view_names = {"interactions", "impressions", "text"};

struct ViewSettings {
  std::int64_t seed = 1;
  std::int64_t negatives = 20;
  double positive_above = 3;
  std::string sampling = "uniform", test_sampling = "popularity";

  void bind(SettingsTable& table);
};

// Names the settings that only views of interactions read.
inline constexpr std::array<std::string_view, 4> impression_view_settings = {"negatives", "positive_above",
                                                                             "sampling", "test_sampling"};

// Refuses data that has no rows the view is made of or has its form already, and settings that the view would
// ignore.
Result<DatasetBuilder> build_view(const Dataset& source, std::string_view view, const ViewSettings& settings);

struct ViewSummary {
  std::string name;
  DatasetCounts counts{};
  std::vector<std::string> notes;  // what the reader of the data should know
};

// Refuses an output that is the source or holds it: replacing it would delete what is read.
Status check_apart(const fs::path& source, const fs::path& out);

// The view of the data set at `source`, all at once or not at all, at `out`.
Result<ViewSummary> write_view(const fs::path& source, std::string_view view, const ViewSettings& settings,
                               const fs::path& out, bool replace);

// What whoever trains on it should know: items and rows that private recipes leave out, items that say the
// same, a test part too small to measure with.
std::vector<std::string> notes_about(const Dataset& dataset);

}  // namespace sotto::data
