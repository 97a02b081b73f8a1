#pragma once
// Histories and impressions while a dataset is being built.

#include <cstdint>
#include <span>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/dataset.h"

namespace sotto {

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
