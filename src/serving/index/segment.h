#pragma once
// An immutable part of the pool, laid out for searching: blocks of 128 rows in spatial order, each block's
// columns back to back, and over every block, and over every group of 64 blocks, the largest and smallest
// value of each dimension. A query's score in a block is at most the sum of its coefficients times those.
//
// Built once, then safe to share between threads. Which rows are still alive is kept outside.

#include <optional>

#include "serving/index/row_batch.h"
#include "serving/index/row_codes.h"
#include "serving/index/row_set.h"
#include "serving/index/scan_kernels.h"

namespace sotto::serving {

// Largest and smallest values of cells, 64 cells at a time as upper_bounds() reads them.
class Bounds {
 public:
  Bounds(std::size_t cells, std::size_t dimension);
  void widen(std::size_t cell, std::size_t dimension, float lowest, float highest);
  std::size_t cells() const { return cells_; }
  std::size_t parts() const { return (cells_ + group_blocks - 1) / group_blocks; }
  // Upper bounds of the cells of part p; those behind the last cell are meaningless.
  void of_part(std::size_t part, std::span<const Term> terms, std::span<float, group_blocks> bounds) const;
  float lowest(std::size_t cell, std::size_t dimension) const { return lowest_[at(cell, dimension)]; }
  float highest(std::size_t cell, std::size_t dimension) const { return highest_[at(cell, dimension)]; }
  std::size_t bytes() const { return (lowest_.size() + highest_.size()) * sizeof(float); }

 private:
  std::size_t at(std::size_t cell, std::size_t dimension) const {
    return (cell / group_blocks * dimension_ + dimension) * group_blocks + cell % group_blocks;
  }
  std::size_t cells_, dimension_;
  std::vector<float> highest_, lowest_;
};

// What a search looks at first: the values themselves, or 16-bit codes of them (2 bytes more per value, half
// the memory traffic where little can be skipped). Answers are the same.
enum class FirstLook { values, codes };

class Segment {
 public:
  // Numbers must be distinct and values checked. Gives the rows a new order.
  Segment(const RowBatch& rows, FirstLook first_look);

  std::size_t dimension() const { return dimension_; }
  std::size_t rows() const { return items_.size(); }
  std::size_t blocks() const { return block_bounds_.cells(); }
  ItemNumber item(std::size_t row) const { return items_[row]; }
  const ItemTag& tag(std::size_t row) const { return tags_[row]; }
  float value(std::size_t row, std::size_t dimension) const {
    return values_[(row / block_rows * dimension_ + dimension) * block_rows + row % block_rows];
  }
  const float* block(std::size_t block) const { return values_.data() + block * dimension_ * block_rows; }
  // All rows of the block have the same values. Its equals are then ordered by their numbers alone.
  bool is_constant(std::size_t block) const { return constant_[block]; }
  ItemNumber smallest_item(std::size_t block) const { return smallest_items_[block]; }
  const Bounds& block_bounds() const { return block_bounds_; }
  const Bounds& group_bounds() const { return group_bounds_; }
  FirstLook first_look() const { return codes_ ? FirstLook::codes : FirstLook::values; }
  const std::optional<RowCodes>& codes() const { return codes_; }
  std::span<const float> largest() const { return largest_; }  // size of values, per dimension
  std::optional<std::size_t> find(ItemNumber item) const;      // its row
  RowSet all_rows() const;
  std::size_t bytes() const;

 private:
  void store(const RowBatch& rows, std::span<const std::uint32_t> order);
  void bound_blocks();

  std::size_t dimension_;
  std::vector<ItemNumber> items_;
  std::vector<ItemTag> tags_;
  std::vector<float> values_;  // blocks x dimension x block_rows; zeros behind the last row
  Bounds block_bounds_, group_bounds_;
  std::vector<bool> constant_;              // per block
  std::vector<ItemNumber> smallest_items_;  // per block
  std::vector<float> largest_;
  std::optional<RowCodes> codes_;
  std::vector<std::uint32_t> by_number_;  // rows in ascending order of their items
};

}  // namespace sotto::serving
