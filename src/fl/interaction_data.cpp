#include "fl/interaction_data.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "data/splits.h"

namespace sotto::fl {

void InteractionSettings::bind(SettingsTable& table) {
  table.add("train_share", train_share, {0.01, 0.99}, "Share of the users who train; the others test")
      .add("positive_above", positive_above, {-1e6, 1e6},
           "Ratings above this are positive; rows without a rating always are")
      .add_choice("rows", rows, {"log", "distinct"},
                  "log: every row counts, items may repeat; distinct: each item of a user counts once");
}

const UserRows& InteractionData::of(data::UserId user) const {
  const auto position = std::lower_bound(users.begin(), users.end(), user) - users.begin();
  return rows.at(static_cast<std::size_t>(position));
}

std::uint64_t InteractionData::row_count() const {
  std::uint64_t total = 0;
  for (const auto& user : rows) total += user.positive.size() + user.negative.size();
  return total;
}

namespace {

class RowSorter {
 public:
  RowSorter(const data::Dataset& dataset, const InteractionSettings& settings)
      : log_(dataset.interactions()), above_(settings.positive_above) {}

  UserRows sorted(data::UserId user, const std::vector<std::uint64_t>& rows) const {
    UserRows own{user, {}, {}};
    for (const std::uint64_t row : rows) (is_positive(row) ? own.positive : own.negative).push_back(row);
    return own;
  }
  std::vector<std::uint64_t> all_rows(data::UserId user, data::RowUnit unit) const {
    std::vector<std::uint64_t> rows;
    std::unordered_set<data::ItemId> seen;
    for (std::uint64_t row = log_.user_offsets[user]; row < log_.user_offsets[user + std::size_t{1}]; ++row)
      if (unit == data::RowUnit::every_row || seen.insert(log_.items[row]).second) rows.push_back(row);
    return rows;
  }
  // Those of the rows that the data's own split has on that side.
  std::vector<std::uint64_t> on_side(std::vector<std::uint64_t> rows, bool tests) const {
    std::erase_if(rows, [&](std::uint64_t row) {
      return (log_.splits[row] == static_cast<std::uint8_t>(data::Split::test)) != tests;
    });
    return rows;
  }

 private:
  bool is_positive(std::uint64_t row) const {
    const float rating = log_.ratings[row];
    return std::isnan(rating) || rating > above_;
  }
  const data::Interactions& log_;
  double above_;
};

void add_test_user(UserRows support, std::vector<std::uint64_t> query, InteractionData& data) {
  if (query.empty()) {
    ++data.untested;
  } else {
    data.test.push_back({std::move(support), std::move(query)});
  }
}

Status divide_users(const data::Dataset& dataset, const InteractionSettings& settings, std::uint64_t seed,
                    InteractionData& data) {
  SOTTO_TRY(const auto split,
            data::split_users(data::users_with_interactions(dataset), settings.train_share, seed));
  const data::RowUnit unit = data.distinct_items ? data::RowUnit::distinct_items : data::RowUnit::every_row;
  const RowSorter sorter(dataset, settings);
  for (const data::UserId user : split.train) {
    UserRows own = sorter.sorted(user, sorter.all_rows(user, unit));
    if (own.positive.empty()) continue;
    data.users.push_back(user);
    data.rows.push_back(std::move(own));
  }
  for (const data::UserId user : split.test) {
    const data::RowHalves halves = data::halve_rows(dataset.interactions(), user, unit, seed);
    add_test_user(sorter.sorted(user, halves.input), sorter.sorted(user, halves.test).positive, data);
  }
  return {};
}

Status take_given_split(const data::Dataset& dataset, const InteractionSettings& settings,
                        InteractionData& data) {
  const InteractionSettings untouched;
  if (settings.train_share != untouched.train_share)
    return bad_input("{} says itself which rows test, and train_share divides users: leave it out",
                     dataset.name());
  data.given_split = true;
  const data::RowUnit unit = data.distinct_items ? data::RowUnit::distinct_items : data::RowUnit::every_row;
  const RowSorter sorter(dataset, settings);
  for (const data::UserId user : data::users_with_interactions(dataset)) {
    const auto rows = sorter.all_rows(user, unit);
    UserRows own = sorter.sorted(user, sorter.on_side(rows, false));
    add_test_user(own, sorter.sorted(user, sorter.on_side(rows, true)).positive, data);
    if (own.positive.empty()) continue;
    data.users.push_back(user);
    data.rows.push_back(std::move(own));
  }
  return {};
}

}  // namespace

Result<InteractionData> prepare_interactions(const data::Dataset& dataset,
                                             const InteractionSettings& settings, std::uint64_t seed) {
  if (!dataset.has_interactions())
    return bad_input(
        "{} has no interactions, which this recipe trains on: make them with 'sotto data view DATA --view "
        "interactions --out DIR' and train on DIR",
        dataset.name());
  InteractionData data;
  data.distinct_items = settings.rows == "distinct";
  SOTTO_CHECK(dataset.interactions().has_splits() ? take_given_split(dataset, settings, data)
                                                  : divide_users(dataset, settings, seed, data));
  if (data.users.empty())
    return bad_input("no training user of {} has a positive row: lower positive_above", dataset.name());
  return data;
}

std::vector<float> training_popularity(const data::Dataset& dataset, const InteractionData& data) {
  std::vector<float> counts(dataset.item_count(), 0);
  for (const auto& user : data.rows)
    for (const std::uint64_t row : user.positive) counts[dataset.interactions().items[row]] += 1;
  return counts;
}

}  // namespace sotto::fl
