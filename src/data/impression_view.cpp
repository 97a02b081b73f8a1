#include "data/impression_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/random.h"
#include "data/dataset_copy.h"
#include "data/unseen_items.h"
#include "data/user_draws.h"

namespace sotto::data {

namespace {

Status check(const ImpressionViewOptions& options) {
  if (!std::isfinite(options.positive_above))
    return bad_input("the rating threshold must be a finite number");
  if (!(options.test_share > 0 && options.test_share < 1)) {
    return bad_input("the test share is {}: it must lie between 0 and 1", options.test_share);
  }
  if (options.min_history > 10'000) {
    return bad_input("the least history is {}: it must be at most 10000", options.min_history);
  }
  if (options.negatives < 1 || options.negatives > 10'000) {
    return bad_input("{} non-clicks per impression: it must be 1 to 10000", options.negatives);
  }
  return {};
}

// The positives of one user; the first `train` of them train.
struct Positives {
  std::vector<ItemId> items;
  std::vector<std::int64_t> times;
  std::vector<Split> splits;
  std::size_t train = 0;
};

// Reads users one after the other; keeps the marks of the current one. Not thread-safe.
class UserRows {
 public:
  UserRows(const Dataset& source, const ImpressionViewOptions& options)
      : source_(source),
        interactions_(source.interactions()),
        options_(options),
        touched_(source.item_count(), 0) {}

  Positives positives(UserId user) {
    std::vector<std::tuple<Split, std::int64_t, std::uint64_t, ItemId>> first_rows;
    for (std::uint64_t row = begin(user); row < end(user); ++row) {
      const ItemId item = interactions_.items[row];
      if (touched_[item] == 1 || !is_positive(row)) continue;
      touched_[item] = 1;
      first_rows.emplace_back(published_split(row), interactions_.times[row],
                              tie_of(options_.seed, source_.user_ids()[user], source_.catalogue().ids[item]),
                              item);
    }
    std::sort(first_rows.begin(), first_rows.end());
    Positives positives;
    for (const auto& [part, time, tie, item] : first_rows) {
      touched_[item] = 0;
      positives.items.push_back(item);
      positives.times.push_back(time);
      positives.splits.push_back(part);
    }
    if (!interactions_.has_splits()) last_ones_test(positives);
    positives.train =
        static_cast<std::size_t>(std::count(positives.splits.begin(), positives.splits.end(), Split::train));
    return positives;
  }

  // Calls body(marks) with 1 for every item the user touched. The body must leave the marks as they were.
  template <class Body>
  void with_touched(UserId user, Body body) {
    for (std::uint64_t row = begin(user); row < end(user); ++row) touched_[interactions_.items[row]] = 1;
    body(std::span(touched_));
    for (std::uint64_t row = begin(user); row < end(user); ++row) touched_[interactions_.items[row]] = 0;
  }

 private:
  std::uint64_t begin(UserId user) const { return interactions_.user_offsets[user]; }
  std::uint64_t end(UserId user) const { return interactions_.user_offsets[user + std::size_t{1}]; }
  // Where none was published, all train until last_ones_test().
  Split published_split(std::uint64_t row) const {
    return interactions_.has_splits() ? static_cast<Split>(interactions_.splits[row]) : Split::train;
  }
  void last_ones_test(Positives& positives) const {
    const std::size_t count = positives.splits.size();
    const auto test =
        static_cast<std::size_t>(std::llround(options_.test_share * static_cast<double>(count)));
    const std::size_t train = count - std::min(count, std::max<std::size_t>(test, 1));
    std::fill(positives.splits.begin() + static_cast<std::ptrdiff_t>(train), positives.splits.end(),
              Split::test);
  }
  bool is_positive(std::uint64_t row) const {
    const float rating = interactions_.ratings[row];
    return std::isnan(rating) || rating > options_.positive_above;
  }

  const Dataset& source_;
  const Interactions& interactions_;
  const ImpressionViewOptions& options_;
  std::vector<std::uint8_t> touched_;
};

std::vector<std::uint64_t> item_weights(const Dataset& source, NegativeSampling sampling, UserRows& rows) {
  const Catalogue& catalogue = source.catalogue();
  std::vector<std::uint64_t> weights(catalogue.is_public.begin(), catalogue.is_public.end());
  if (catalogue.public_count() == 0) weights.assign(weights.size(), 1);
  if (sampling == NegativeSampling::uniform) return weights;
  Progress progress("counting clicks", source.user_count(), "users");
  for (UserId user = 0; user < source.user_count() && !interrupted(); ++user) {
    progress.advance();
    const Positives positives = rows.positives(user);
    for (std::size_t rank = 0; rank < positives.train; ++rank) {
      std::uint64_t& weight = weights[positives.items[rank]];
      weight += weight > 0 ? 1 : 0;
    }
  }
  return weights;
}

struct Candidates {
  UnseenItems training, test;
};

// published_split: rows that test have no order among them, and are tested with what trains as history.
void add_impressions(UserId user, std::string_view user_id, const Positives& positives, bool published_split,
                     const ImpressionViewOptions& options, const Candidates& candidates,
                     std::span<std::uint8_t> marks, DatasetBuilder& target) {
  // Training rows are drawn first: what test rows draw by cannot reach them.
  SeededRandom random = draws_of_user(options.seed, Purpose::impression_view, user_id);
  const DatasetBuilder::HistoryHandle history = target.add_history(positives.items);
  std::vector<ItemId> shown;
  std::vector<std::uint8_t> clicked;
  for (std::size_t rank = 0; rank < positives.items.size(); ++rank) {
    const bool trains = rank < positives.train;
    const std::size_t before = published_split ? std::min(rank, positives.train) : rank;
    if (before < options.min_history) continue;
    shown.clear();
    (trains ? candidates.training : candidates.test).draw(options.negatives, marks, random, shown);
    if (shown.empty()) return;  // nothing is left that the user never touched
    for (const ItemId item : shown) marks[item] = 0;

    shown.push_back(positives.items[rank]);
    clicked.assign(shown.size(), 0);
    const std::size_t position = uniform_below(random, shown.size());
    std::swap(shown[position], shown.back());
    clicked[position] = 1;
    target.add_impression(user, positives.times[rank], positives.splits[rank], history,
                          static_cast<std::uint32_t>(before), shown, clicked);
  }
}

std::string_view name(NegativeSampling sampling) {
  return sampling == NegativeSampling::uniform ? "uniform" : "popularity-weighted";
}

std::string origin_of(const Dataset& source, const ImpressionViewOptions& options) {
  return fmt::format(
      "impressions from interactions (positive above {}, {}, least history {}, {} non-clicks, {} "
      "in training, {} in tests, seed {}) of: {}",
      options.positive_above,
      source.interactions().has_splits() ? "split as published"
                                         : fmt::format("test share {}", options.test_share),
      options.min_history, options.negatives, name(options.sampling), name(options.test_sampling),
      options.seed, source.origin());
}

}  // namespace

Result<DatasetBuilder> build_impression_view(const Dataset& source, const ImpressionViewOptions& options) {
  SOTTO_CHECK(check(options));
  if (!source.has_interactions()) {
    return bad_input("{} has no interactions to turn into impressions", source.name());
  }
  DatasetBuilder target(source.name() + " as impressions", origin_of(source, options));
  SOTTO_CHECK(copy_items(source, target));
  SOTTO_CHECK(copy_users(source, target));

  UserRows rows(source, options);
  const Candidates candidates{UnseenItems(item_weights(source, options.sampling, rows)),
                              UnseenItems(item_weights(source, options.test_sampling, rows))};
  const bool own_rows =
      options.sampling == NegativeSampling::uniform && source.catalogue().public_count() > 0;
  target.set_training_non_clicks(own_rows ? NonClicks::public_catalogue : NonClicks::all_users);
  Progress progress("view of impressions", source.user_count(), "users");
  for (UserId user = 0; user < source.user_count(); ++user) {
    progress.advance();
    if (interrupted()) return failed("interrupted: no view was written");
    const Positives positives = rows.positives(user);
    if (positives.items.size() <= options.min_history) continue;
    rows.with_touched(user, [&](std::span<std::uint8_t> marks) {
      add_impressions(user, source.user_ids()[user], positives, source.interactions().has_splits(), options,
                      candidates, marks, target);
    });
  }
  if (target.counts().impressions == 0) {
    return bad_input(
        "{} yields no impression: no user has more than {} clicks (rows without a rating, or rated above "
        "positive_above={:g}) and an item it never touched",
        source.name(), options.min_history, options.positive_above);
  }
  return target;
}

}  // namespace sotto::data
