#pragma once
// What a dataset is like, in numbers: for `sotto data info`, the docs, and to compare generated with real
// data.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace sotto::data {

// All 0 when there is nothing to summarise. Quantiles are values that occur (the lower one at a tie).
struct Distribution {
  std::uint64_t count = 0;
  double mean = 0;
  std::uint64_t least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, ninety_percent = 0,
                largest = 0;
};
Distribution distribution_of(std::vector<std::uint32_t> values);

struct SplitSummary {
  std::uint64_t impressions = 0, users = 0, shown = 0, clicks = 0;
};

struct DatasetSummary {
  std::string name, origin;
  DatasetCounts counts{};

  // Items.
  std::uint64_t items_with_title = 0, items_with_abstract = 0;
  std::uint64_t categories = 0, subcategories = 0, entities = 0;  // different ones, without "unknown"
  std::uint32_t entity_dimension = 0;
  Distribution title_words;  // of items with a title, separated by white space
  std::vector<std::string> item_features, user_features, context_features;
  std::uint64_t public_items = 0;               // named by the public catalogue
  std::vector<std::string> undeclared_columns;  // of users and rows: values were read off the rows

  // Impressions.
  NonClicks training_non_clicks = NonClicks::recorded;
  SplitOrigin split_origin = SplitOrigin::public_or_own;
  std::array<SplitSummary, 3> splits;  // by Split
  Distribution history_length, impression_size, clicks_per_impression;
  Distribution impressions_per_user;  // of users who have any
  // Share of the items shown in test impressions that no training impression showed, clicked or had in its
  // history.
  double unseen_test_share = 0;

  // Interactions.
  Distribution interactions_per_user;  // of users who have any
  std::uint64_t rated = 0;             // interactions with a rating
  double mean_rating = 0;
  std::int64_t first_time = 0, last_time = 0;  // of all behaviour with a known time
  // Share of the events of a user, interactions or impressions, that have the time of the one before.
  double tied_share = 0;
};

// Reads every impression and interaction once.
DatasetSummary describe(const Dataset& dataset);

// For people: a few lines, without what the dataset does not have. Safe to print whatever the dataset holds.
std::string to_text(const DatasetSummary& summary);

// "recorded", "public catalogue", "all users".
std::string_view name(NonClicks origin);
std::string_view name(SplitOrigin origin);

// From this share on a data set says that the order of its events is mostly drawn.
inline constexpr double many_ties = 0.1;

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace sotto::data
