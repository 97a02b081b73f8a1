#pragma once
// Interactions, histories and impressions while a dataset is being built, and the order in which behaviour is
// stored: by user, then by time, rows of equal time as they came.

#include <cstdint>
#include <span>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/column_writer.h"
#include "data/dataset.h"

namespace sotto {

struct UserOrder {
  std::vector<std::uint64_t> user_offsets;  // rows[user_offsets[u] .. user_offsets[u + 1]) are user u's
  std::vector<std::uint64_t> rows;          // numbers of rows as they were added
};

// Linear in rows when they already come in time order. Every users[i] < user_count.
UserOrder order_by_user_and_time(std::span<const UserId> users, std::span<const std::int64_t> times,
                                 std::size_t user_count);

// values[order[0]], values[order[1]], ...
template <class T>
std::vector<T> in_order(const std::vector<T>& values, std::span<const std::uint64_t> order) {
  std::vector<T> ordered;
  ordered.reserve(order.size());
  for (const std::uint64_t row : order) ordered.push_back(values[row]);
  return ordered;
}

// Interactions in any order. The caller has checked users and items. Not thread-safe.
class InteractionColumns {
 public:
  // A rating of NaN is none; infinite ones are refused. The new row has the number size() - 1.
  Status add(UserId user, ItemId item, float rating, std::int64_t time);
  std::size_t size() const { return users_.size(); }
  FeatureColumns& context() { return context_; }
  Status write(BinaryFileWriter& writer, std::size_t user_count) const;

 private:
  std::vector<UserId> users_;
  std::vector<ItemId> items_;
  std::vector<float> ratings_;
  std::vector<std::int64_t> times_;
  FeatureColumns context_;
};

// Impressions in any order. The caller has checked users and items; lengths and marks are checked here. Not
// thread-safe.
class ImpressionColumns {
 public:
  std::uint64_t add_history(std::span<const ItemId> items);
  Status add(UserId user, std::int64_t time, Split split, std::uint64_t history, std::uint32_t history_length,
             std::span<const ItemId> shown, std::span<const std::uint8_t> clicked);
  std::size_t size() const { return users_.size(); }
  std::uint64_t clicks() const { return clicks_; }
  Status write(BinaryFileWriter& writer, std::size_t user_count) const;

 private:
  Status write_histories(BinaryFileWriter& writer, std::span<const std::uint64_t> order) const;
  Status write_shown(BinaryFileWriter& writer, std::span<const std::uint64_t> order) const;

  std::vector<std::uint64_t> history_offsets_ = {0};
  std::vector<ItemId> history_items_;

  std::vector<UserId> users_;
  std::vector<std::int64_t> times_;
  std::vector<std::uint8_t> splits_;
  std::vector<std::uint64_t> histories_;
  std::vector<std::uint32_t> history_lengths_;
  std::vector<std::uint64_t> shown_offsets_ = {0};
  std::vector<ItemId> shown_;
  std::vector<std::uint8_t> clicked_;
  std::uint64_t clicks_ = 0;
};

}  // namespace sotto
