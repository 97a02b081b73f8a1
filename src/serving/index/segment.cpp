#include "serving/index/segment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "serving/index/spatial_order.h"

namespace sotto::serving {

namespace {

std::size_t parts_of(std::size_t count, std::size_t part) { return (count + part - 1) / part; }

}  // namespace

Bounds::Bounds(std::size_t cells, std::size_t dimension)
    : cells_(cells),
      dimension_(dimension),
      highest_(parts() * dimension * group_blocks, -HUGE_VALF),
      lowest_(parts() * dimension * group_blocks, HUGE_VALF) {
  // Cells behind the last are computed and thrown away: keep infinities out of the vector loops.
  for (std::size_t cell = cells; cell < parts() * group_blocks; ++cell) {
    for (std::size_t d = 0; d < dimension; ++d) highest_[at(cell, d)] = lowest_[at(cell, d)] = 0;
  }
}

void Bounds::widen(std::size_t cell, std::size_t dimension, float lowest, float highest) {
  float& low = lowest_[at(cell, dimension)];
  float& high = highest_[at(cell, dimension)];
  low = std::min(low, lowest);
  high = std::max(high, highest);
}

void Bounds::of_part(std::size_t part, std::span<const Term> terms,
                     std::span<float, group_blocks> bounds) const {
  const std::size_t offset = part * dimension_ * group_blocks;
  upper_bounds(terms.data(), terms.size(), highest_.data() + offset, lowest_.data() + offset, bounds.data());
}

Segment::Segment(const RowBatch& rows, FirstLook first_look)
    : dimension_(rows.dimension),
      block_bounds_(parts_of(rows.size(), block_rows), rows.dimension),
      group_bounds_(parts_of(block_bounds_.cells(), group_blocks), rows.dimension),
      largest_(rows.dimension) {
  store(rows, spatial_order(rows));
  bound_blocks();
  if (first_look == FirstLook::codes) codes_.emplace(*this);
  by_number_.resize(items_.size());
  std::iota(by_number_.begin(), by_number_.end(), 0U);
  std::sort(by_number_.begin(), by_number_.end(),
            [&](std::uint32_t left, std::uint32_t right) { return items_[left] < items_[right]; });
}

void Segment::store(const RowBatch& rows, std::span<const std::uint32_t> order) {
  items_.resize(rows.size());
  tags_.resize(rows.size());
  values_.assign(blocks() * dimension_ * block_rows, 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint32_t from = order[row];
    items_[row] = rows.items[from];
    tags_[row] = rows.tags[from];
    const auto given = rows.row(from);
    float* to = values_.data() + row / block_rows * dimension_ * block_rows + row % block_rows;
    for (std::size_t d = 0; d < dimension_; ++d) to[d * block_rows] = given[d];
  }
}

void Segment::bound_blocks() {
  constant_.assign(blocks(), true);
  smallest_items_.resize(blocks());
  for (std::size_t b = 0; b < blocks(); ++b) {
    const std::size_t rows_here = std::min(block_rows, rows() - b * block_rows);
    const ItemNumber* items = items_.data() + b * block_rows;
    smallest_items_[b] = *std::min_element(items, items + rows_here);
    for (std::size_t d = 0; d < dimension_; ++d) {
      const float* column = block(b) + d * block_rows;
      const auto [low, high] = std::minmax_element(column, column + rows_here);
      block_bounds_.widen(b, d, *low, *high);
      group_bounds_.widen(b / group_blocks, d, *low, *high);
      if (*low != *high) constant_[b] = false;
      largest_[d] = std::max({largest_[d], std::abs(*low), std::abs(*high)});
    }
  }
}

std::optional<std::size_t> Segment::find(ItemNumber item) const {
  const auto at =
      std::lower_bound(by_number_.begin(), by_number_.end(), item,
                       [&](std::uint32_t row, ItemNumber wanted) { return items_[row] < wanted; });
  if (at == by_number_.end() || items_[*at] != item) return std::nullopt;
  return *at;
}

RowSet Segment::all_rows() const {
  RowSet all(blocks() * block_rows);
  for (std::size_t row = 0; row < rows(); ++row) all.insert(row);
  return all;
}

std::size_t Segment::bytes() const {
  return items_.size() * sizeof(ItemNumber) + tags_.size() * sizeof(ItemTag) +
         values_.size() * sizeof(float) + by_number_.size() * sizeof(std::uint32_t) + block_bounds_.bytes() +
         group_bounds_.bytes() + (codes_ ? codes_->bytes() : 0) + largest_.size() * sizeof(float) +
         constant_.size() / 8 + smallest_items_.size() * sizeof(ItemNumber);
}

}  // namespace sotto::serving
