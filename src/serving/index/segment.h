#pragma once
// An immutable part of the pool, laid out for searching: blocks of 128 rows in spatial order, each block's
// columns back to back, and over every block, and over every group of 64 blocks, the largest and smallest
// value of each dimension. A query's score in a block is at most the sum of its coefficients times those.
//
// Built once, then safe to share between threads. Which rows are still alive is kept outside.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "serving/index/item_index.h"
#include "serving/index/scaled_query.h"
#include "serving/index/scan_kernels.h"

namespace sotto::serving {

// A set of row numbers as bits. Written by one owner before it is shared, read by any number of threads
// after.
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

// The values of a segment once more, in 16 bits: each between the smallest and largest of its block and
// dimension, in 65,536 steps. A look at them moves half the memory; what it cannot rule out is scored exactly
// from the full values.
//
// Immutable; safe to share between threads.
class Segment;

class RowCodes {
 public:
  explicit RowCodes(const Segment& segment);

  // Sums of lowest + step * code take a few more roundings, of numbers up to three times as large, than
  // ScaledQuery::slack() counts.
  static constexpr double slack_factor = 8;
  // At least the scores of the block's rows, less slack_factor times that slack. Returns the largest.
  float upper_scores(std::size_t block, std::span<const Term> terms,
                     std::span<float, block_rows> upper) const;
  std::size_t bytes() const {
    return codes_.size() * sizeof(std::uint16_t) + (lowest_.size() + steps_.size()) * sizeof(float);
  }

 private:
  double coarseness(std::size_t block, std::span<const Term> terms) const;

  std::size_t dimension_;
  std::vector<std::uint16_t> codes_;   // blocks x dimension x block_rows
  std::vector<float> lowest_, steps_;  // blocks x dimension: value = lowest + step * code
};

// An order of rows in which neighbours have similar numbers, so that few blocks can hold the best rows of a
// query: a balanced k-d tree, cut at multiples of whole groups and then of whole blocks, across the dimension
// that varies most.

// A permutation of 0 .. rows.size()-1, a function of the rows alone.
std::vector<std::uint32_t> spatial_order(const RowBatch& rows);

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

// Exact search in one segment. What is skipped is proved to be skippable: a block or row is passed over only
// when its upper bound, less the rounding slack, stays below the k-th best exact score found so far.

// One query on its way through the segments. Scores in `top` are scaled as the query is.
struct RunningQuery {
  ScaledQuery query;
  TopItems top;
};

// Blocks in descending order of their bounds until no further one can matter.
void search_segment(const Segment& segment, const RowSet& alive, const ItemFilter& filter,
                    RunningQuery& running);

// Each query best-first up to a fixed number of blocks; those that are not finished then share one pass over
// the memory. The same answers as search_segment() for each.
void search_segment(const Segment& segment, const RowSet& alive, const ItemFilter& filter,
                    std::span<RunningQuery> queries);

// The exact scores of a whole block at once, for blocks of which many rows come into question.

// scores[j] = sum over the terms, in their order, of coefficients[t] * columns[dimension * block_rows + j],
// in double precision: the same bits as ScaledQuery::score(). Not a *_kernels file, because sums must keep
// their order. Returns the largest.
double exact_scores(const Term* terms, const double* coefficients, std::size_t count, const float* columns,
                    double* scores);

}  // namespace sotto::serving
