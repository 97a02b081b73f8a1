#pragma once
// Who trains and who tests, as the papers divide users and their rows. Every draw is addressed by the seed
// and, inside a user, by the user's number: the result depends on neither threads nor the order of calls.

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "data/dataset.h"

namespace sotto::data {

// Both in ascending order.
struct UserSplit {
  std::vector<UserId> train, test;
};

// PrivRec: a random `train_share` of the users (rounded to whole users) trains, the rest tests. The share
// must lie strictly between 0 and 1, and both sides must get a user.
Result<UserSplit> split_users(std::span<const UserId> users, double train_share, std::uint64_t seed);

// A test part of fewer impressions than this is said to be small wherever it is measured with.
inline constexpr std::uint64_t few_test_impressions = 100;
// About the standard error of a mean AUC (0 to 1) over so many impressions: those of single impressions with
// one click spread by about 0.3.
double auc_error_of(std::uint64_t impressions);

// What counts as one row of a user when its data is halved.
enum class RowUnit {
  every_row,       // the log as it is: an item used twice may fall on both sides
  distinct_items,  // the first row of each item only
};

// Row numbers of Interactions, in ascending (time) order on both sides.
struct RowHalves {
  std::vector<std::uint64_t> input, test;
};

// PrivRec: a random half of a test user's rows is the input of fine-tuning, the other half is tested. Of an
// odd number the test side gets one more. A user with a single row keeps it as input and is not tested: there
// is nothing to fine-tune on otherwise, and a metric over no input would only measure the untuned model.
RowHalves halve_rows(const Interactions& interactions, UserId user, RowUnit unit, std::uint64_t seed);

// Users with at least `at_least` interactions.
std::vector<UserId> users_with_interactions(const Dataset& dataset, std::uint64_t at_least = 1);

// The training unit of the news papers: one click of an impression against K items of the same impression
// that were shown and not clicked.
struct TrainingSample {
  std::uint32_t impression;        // Dataset::impression(impression)
  std::uint32_t clicked_position;  // in shown; clicked[clicked_position] is 1
};

// One sample per click of the user's impressions of that split, in time order. An impression in which
// everything was clicked yields none: it holds nothing to rank the click against.
std::vector<TrainingSample> training_samples(const Dataset& dataset, UserId user, Split split);

// Replaces `out` by `count` items that were shown and not clicked, in random order. Distinct positions while
// there are enough; otherwise each is repeated equally often, give or take one, as the papers' code does.
// False, and nothing in `out`, when every item was clicked.
bool sample_negatives(const Impression& impression, std::size_t count, RandomSource& random,
                      std::vector<ItemId>& out);

}  // namespace sotto::data
