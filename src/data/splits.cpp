#include "data/splits.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/distributions.h"
#include "base/even_sample.h"
#include "base/random.h"

namespace sotto::data {

namespace {

// The "round" of a Purpose::split stream says which split draws from it.
enum SplitStream : std::uint32_t { user_split_stream = 0, row_halves_stream = 1 };

// Moves a uniformly chosen set of `count` values to the front; both parts come back sorted.
template <class T>
void choose_to_front(std::vector<T>& values, std::size_t count, RandomSource& random) {
  shuffle(std::span(values), random);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(values.begin(), middle);
  std::sort(middle, values.end());
}

}  // namespace

Result<UserSplit> split_users(std::span<const UserId> users, double train_share, std::uint64_t seed) {
  if (!(train_share > 0 && train_share < 1)) {
    return bad_input("the share of training users is {}: it must lie between 0 and 1", train_share);
  }
  const auto train = static_cast<std::size_t>(std::llround(train_share * static_cast<double>(users.size())));
  if (train == 0 || train >= users.size()) {
    return bad_input("{} users are too few to train on a share of {} of them and to test on the rest",
                     users.size(), train_share);
  }
  std::vector<UserId> chosen(users.begin(), users.end());
  SeededRandom random(seed, Purpose::split, user_split_stream);
  choose_to_front(chosen, train, random);
  const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(train);
  return UserSplit{{chosen.begin(), middle}, {middle, chosen.end()}};
}

double auc_error_of(std::uint64_t impressions) {
  return 0.3 / std::sqrt(static_cast<double>(std::max<std::uint64_t>(impressions, 1)));
}

RowHalves halve_rows(const Interactions& interactions, UserId user, RowUnit unit, std::uint64_t seed) {
  std::vector<std::uint64_t> rows;
  std::unordered_set<ItemId> seen;
  for (std::uint64_t row = interactions.user_offsets[user];
       row < interactions.user_offsets[user + std::size_t{1}]; ++row) {
    if (unit == RowUnit::every_row || seen.insert(interactions.items[row]).second) rows.push_back(row);
  }
  const std::size_t input = rows.size() == 1 ? 1 : rows.size() / 2;
  SeededRandom random(seed, Purpose::split, row_halves_stream, user);
  choose_to_front(rows, input, random);
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(input);
  return {{rows.begin(), middle}, {middle, rows.end()}};
}

std::vector<UserId> users_with_interactions(const Dataset& dataset, std::uint64_t at_least) {
  const auto& offsets = dataset.interactions().user_offsets;
  std::vector<UserId> users;
  for (std::size_t user = 0; user < dataset.user_count(); ++user) {
    if (offsets[user + 1] - offsets[user] >= at_least) users.push_back(static_cast<UserId>(user));
  }
  return users;
}

std::vector<TrainingSample> training_samples(const Dataset& dataset, UserId user, Split split) {
  std::vector<TrainingSample> samples;
  const auto [first, last] = dataset.impressions_of(user);
  for (std::size_t index = first; index < last; ++index) {
    const Impression impression = dataset.impression(index);
    if (impression.split != split) continue;
    const auto& clicked = impression.clicked;
    if (std::find(clicked.begin(), clicked.end(), 0) == clicked.end()) continue;
    for (std::size_t position = 0; position < clicked.size(); ++position) {
      if (clicked[position] == 0) continue;
      samples.push_back({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(position)});
    }
  }
  return samples;
}

bool sample_negatives(const Impression& impression, std::size_t count, RandomSource& random,
                      std::vector<ItemId>& out) {
  out.clear();
  for (std::size_t position = 0; position < impression.shown.size(); ++position) {
    if (impression.clicked[position] == 0) out.push_back(impression.shown[position]);
  }
  if (out.empty()) return false;
  sample_evenly(out, count, random);
  return true;
}

}  // namespace sotto::data
