#include "data/behaviour_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/dataset_sections.h"

namespace sotto {

UserOrder order_by_user_and_time(std::span<const UserId> users, std::span<const std::int64_t> times,
                                 std::size_t user_count) {
  UserOrder order;
  order.user_offsets.assign(user_count + 1, 0);
  for (const UserId user : users) ++order.user_offsets[user + std::size_t{1}];
  for (std::size_t user = 0; user < user_count; ++user) {
    order.user_offsets[user + 1] += order.user_offsets[user];
  }

  order.rows.resize(users.size());
  std::vector<std::uint64_t> next(order.user_offsets.begin(), order.user_offsets.end() - 1);
  for (std::size_t row = 0; row < users.size(); ++row) order.rows[next[users[row]]++] = row;

  const auto earlier = [&](std::uint64_t left, std::uint64_t right) { return times[left] < times[right]; };
  for (std::size_t user = 0; user < user_count; ++user) {
    const auto first = order.rows.begin() + static_cast<std::ptrdiff_t>(order.user_offsets[user]);
    const auto last = order.rows.begin() + static_cast<std::ptrdiff_t>(order.user_offsets[user + 1]);
    if (!std::is_sorted(first, last, earlier)) std::stable_sort(first, last, earlier);
  }
  return order;
}

namespace sections = dataset_sections;

Status InteractionColumns::add(UserId user, ItemId item, float rating, std::int64_t time) {
  if (std::isinf(rating)) return bad_input("the rating of an interaction is infinite; leave it out instead");
  users_.push_back(user);
  items_.push_back(item);
  ratings_.push_back(rating);
  times_.push_back(time);
  return {};
}

Status InteractionColumns::write(BinaryFileWriter& writer, std::size_t user_count) const {
  const UserOrder order = order_by_user_and_time(users_, times_, user_count);
  SOTTO_CHECK(writer.add(sections::interaction_user_offsets, order.user_offsets));
  SOTTO_CHECK(writer.add(sections::interaction_items, in_order(items_, order.rows)));
  SOTTO_CHECK(writer.add(sections::interaction_ratings, in_order(ratings_, order.rows)));
  SOTTO_CHECK(writer.add(sections::interaction_times, in_order(times_, order.rows)));
  return context_.write(writer, sections::context_features, size(), order.rows);
}

namespace sections = dataset_sections;

namespace {

// Lists back to back, taken in another order.
template <class T>
std::vector<T> lists_in_order(const std::vector<T>& values, const std::vector<std::uint64_t>& offsets,
                              std::span<const std::uint64_t> order) {
  std::vector<T> ordered;
  ordered.reserve(values.size());
  for (const std::uint64_t row : order) {
    const auto list = std::span(values).subspan(offsets[row], offsets[row + 1] - offsets[row]);
    ordered.insert(ordered.end(), list.begin(), list.end());
  }
  return ordered;
}

}  // namespace

std::uint64_t ImpressionColumns::add_history(std::span<const ItemId> items) {
  history_items_.insert(history_items_.end(), items.begin(), items.end());
  history_offsets_.push_back(history_items_.size());
  return history_offsets_.size() - 2;
}

Status ImpressionColumns::add(UserId user, std::int64_t time, Split split, std::uint64_t history,
                              std::uint32_t history_length, std::span<const ItemId> shown,
                              std::span<const std::uint8_t> clicked) {
  if (history >= history_offsets_.size() - 1)
    return bad_input("an impression names a history that was never added");
  const std::uint64_t available = history_offsets_[history + 1] - history_offsets_[history];
  if (history_length > available) {
    return bad_input("an impression wants {} clicks of a history of {}", history_length, available);
  }
  if (shown.size() != clicked.size()) {
    return bad_input("an impression shows {} items but marks {} as clicked or not", shown.size(),
                     clicked.size());
  }
  if (std::any_of(clicked.begin(), clicked.end(), [](std::uint8_t mark) { return mark > 1; })) {
    return bad_input("a click mark of an impression is neither 0 nor 1");
  }
  users_.push_back(user);
  times_.push_back(time);
  splits_.push_back(static_cast<std::uint8_t>(split));
  histories_.push_back(history);
  history_lengths_.push_back(history_length);
  shown_.insert(shown_.end(), shown.begin(), shown.end());
  clicked_.insert(clicked_.end(), clicked.begin(), clicked.end());
  shown_offsets_.push_back(shown_.size());
  clicks_ += static_cast<std::uint64_t>(std::count(clicked.begin(), clicked.end(), std::uint8_t{1}));
  return {};
}

Status ImpressionColumns::write(BinaryFileWriter& writer, std::size_t user_count) const {
  const UserOrder order = order_by_user_and_time(users_, times_, user_count);
  SOTTO_CHECK(writer.add(sections::impression_user_offsets, order.user_offsets));
  SOTTO_CHECK(writer.add(sections::impression_users, in_order(users_, order.rows)));
  SOTTO_CHECK(writer.add(sections::impression_times, in_order(times_, order.rows)));
  SOTTO_CHECK(writer.add(sections::impression_splits, in_order(splits_, order.rows)));
  SOTTO_CHECK(write_histories(writer, order.rows));
  return write_shown(writer, order.rows);
}

// Histories are stored in the order of the users who need them, and no further than the longest prefix
// needed.
Status ImpressionColumns::write_histories(BinaryFileWriter& writer,
                                          std::span<const std::uint64_t> order) const {
  std::vector<std::uint32_t> needed(history_offsets_.size() - 1, 0);
  for (std::size_t row = 0; row < size(); ++row) {
    needed[histories_[row]] = std::max(needed[histories_[row]], history_lengths_[row]);
  }
  constexpr auto unplaced = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> placed(needed.size(), unplaced);
  std::vector<ItemId> items;
  std::vector<std::uint64_t> starts;
  starts.reserve(order.size());
  for (const std::uint64_t row : order) {
    const std::uint64_t history = histories_[row];
    if (placed[history] == unplaced) {
      placed[history] = items.size();
      const auto prefix = std::span(history_items_).subspan(history_offsets_[history], needed[history]);
      items.insert(items.end(), prefix.begin(), prefix.end());
    }
    starts.push_back(placed[history]);
  }
  SOTTO_CHECK(writer.add(sections::histories, items));
  SOTTO_CHECK(writer.add(sections::impression_history_starts, starts));
  return writer.add(sections::impression_history_lengths, in_order(history_lengths_, order));
}

Status ImpressionColumns::write_shown(BinaryFileWriter& writer, std::span<const std::uint64_t> order) const {
  std::vector<std::uint64_t> offsets = {0};
  offsets.reserve(order.size() + 1);
  for (const std::uint64_t row : order) {
    offsets.push_back(offsets.back() + shown_offsets_[row + 1] - shown_offsets_[row]);
  }
  SOTTO_CHECK(writer.add(sections::impression_shown_offsets, offsets));
  SOTTO_CHECK(writer.add(sections::impression_shown, lists_in_order(shown_, shown_offsets_, order)));
  return writer.add(sections::impression_clicked, lists_in_order(clicked_, shown_offsets_, order));
}

}  // namespace sotto
