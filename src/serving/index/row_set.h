#pragma once
// A set of row numbers as bits. Written by one owner before it is shared, read by any number of threads
// after.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sotto::serving {

class RowSet {
 public:
  RowSet() = default;
  explicit RowSet(std::size_t rows) : words_((rows + 63) / 64) {}

  bool contains(std::size_t row) const { return (words_[row / 64] >> (row % 64) & 1) != 0; }
  void insert(std::size_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  void remove(std::size_t row) { words_[row / 64] &= ~(std::uint64_t{1} << (row % 64)); }
  std::size_t count() const {
    std::size_t rows = 0;
    for (const std::uint64_t word : words_) rows += static_cast<std::size_t>(std::popcount(word));
    return rows;
  }
  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;
};

// For changes to a set that snapshots may share: a copy unless nobody else holds it. Sets come from
// std::make_shared<RowSet>.
inline RowSet& writable(std::shared_ptr<const RowSet>& set) {
  if (set.use_count() > 1) set = std::make_shared<RowSet>(*set);
  return const_cast<RowSet&>(*set);
}

}  // namespace sotto::serving
