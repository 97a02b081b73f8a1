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

 private:
  bool is_positive(std::uint64_t row) const {
    const float rating = log_.ratings[row];
    return std::isnan(rating) || rating > above_;
  }
  const data::Interactions& log_;
  double above_;
};

}  // namespace

Result<InteractionData> prepare_interactions(const data::Dataset& dataset,
                                             const InteractionSettings& settings, std::uint64_t seed) {
  if (!dataset.has_interactions())
    return bad_input(
        "{} has no interactions, which this recipe trains on: make them with 'sotto data view DATA --view "
        "interactions --out DIR' and train on DIR",
        dataset.name());
  SOTTO_TRY(const auto split,
            data::split_users(data::users_with_interactions(dataset), settings.train_share, seed));
  InteractionData data;
  data.distinct_items = settings.rows == "distinct";
  const data::RowUnit unit = data.distinct_items ? data::RowUnit::distinct_items : data::RowUnit::every_row;
  const RowSorter sorter(dataset, settings);
  for (const data::UserId user : split.train) {
    UserRows own = sorter.sorted(user, sorter.all_rows(user, unit));
    if (own.positive.empty()) continue;
    data.users.push_back(user);
    data.rows.push_back(std::move(own));
  }
  if (data.users.empty())
    return bad_input("no training user of {} has a positive row: lower positive_above", dataset.name());
  for (const data::UserId user : split.test) {
    const data::RowHalves halves = data::halve_rows(dataset.interactions(), user, unit, seed);
    TestUser test{sorter.sorted(user, halves.input), sorter.sorted(user, halves.test).positive};
    if (test.query.empty()) {
      ++data.untested;
    } else {
      data.test.push_back(std::move(test));
    }
  }
  return data;
}

std::vector<float> training_popularity(const data::Dataset& dataset, const InteractionData& data) {
  std::vector<float> counts(dataset.item_count(), 0);
  for (const auto& user : data.rows)
    for (const std::uint64_t row : user.positive) counts[dataset.interactions().items[row]] += 1;
  return counts;
}

}  // namespace sotto::fl
