#pragma once
// Who trains and who is tested on interaction data, by PrivRec's protocol: 80 % of the users train; of every
// other user one random half of the rows is on its device when it asks for recommendations (support), the
// other half is what it will like (query).
//
// Where the data says itself which rows test (data/importers/lists.cpp), that split is taken: everybody with
// a training row trains, and a user's training rows are its support.
//
// A row is positive when its rating is above the threshold, or when the data has no ratings (Frappe). A test
// user with a single row, or without a positive query row, is not tested and counted; a training user without
// a positive row does not train.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "data/dataset.h"

namespace sotto::fl {

struct InteractionSettings {
  double train_share = 0.8, positive_above = 3;
  std::string rows = "log";
  void bind(SettingsTable& table);
};

// Row numbers of Dataset::interactions(), in time order.
struct UserRows {
  data::UserId user = 0;
  std::vector<std::uint64_t> positive, negative;
};

struct TestUser {
  UserRows support;
  std::vector<std::uint64_t> query;  // positive rows
};

// Immutable after preparation.
struct InteractionData {
  std::vector<data::UserId> users;  // that train, ascending
  std::vector<UserRows> rows;       // by position in `users`
  std::vector<TestUser> test;       // by user
  std::uint64_t untested = 0;       // test users with nothing to test
  bool distinct_items = false;      // repeated use of an item counts once
  bool given_split = false;         // the data's own

  const UserRows& of(data::UserId user) const;  // a user of `users`
  std::uint64_t row_count() const;              // of training users
};

Result<InteractionData> prepare_interactions(const data::Dataset& dataset,
                                             const InteractionSettings& settings, std::uint64_t seed);

// Receives the scores of all items for a test user (position in `test`) and the query rows they are for.
// After an interrupt those who score stop calling it.
using TakeScores =
    std::function<void(std::size_t test_user, std::span<const std::uint64_t> rows, const float* scores)>;

// Positive rows of training users per item. Counted from users: a mark to compare with, never an input.
std::vector<float> training_popularity(const data::Dataset& dataset, const InteractionData& data);

}  // namespace sotto::fl
