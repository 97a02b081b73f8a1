#include "serving/index/segment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "serving/index/scan_kernels.h"

namespace sotto::serving {

namespace {

constexpr double largest_code = 65535;

// Rounded up, so that no code exceeds the largest; never so small that a processor may take it for zero.
float step_of(float lowest, float highest) {
  const double exact = (static_cast<double>(highest) - static_cast<double>(lowest)) / largest_code;
  return std::max(std::nextafter(static_cast<float>(exact), HUGE_VALF), std::numeric_limits<float>::min());
}

}  // namespace

RowCodes::RowCodes(const Segment& segment)
    : dimension_(segment.dimension()),
      codes_(segment.blocks() * dimension_ * block_rows),
      lowest_(segment.blocks() * dimension_),
      steps_(segment.blocks() * dimension_) {
  for (std::size_t block = 0; block < segment.blocks(); ++block) {
    const std::size_t rows = std::min(block_rows, segment.rows() - block * block_rows);
    for (std::size_t d = 0; d < dimension_; ++d) {
      const std::size_t at = block * dimension_ + d;
      lowest_[at] = segment.block_bounds().lowest(block, d);
      steps_[at] = step_of(lowest_[at], segment.block_bounds().highest(block, d));
      const float* column = segment.block(block) + d * block_rows;
      for (std::size_t j = 0; j < rows; ++j) {
        const double above = static_cast<double>(column[j]) - static_cast<double>(lowest_[at]);
        codes_[at * block_rows + j] =
            static_cast<std::uint16_t>(std::lround(above / static_cast<double>(steps_[at])));
      }
    }
  }
}

float RowCodes::upper_scores(std::size_t block, std::span<const Term> terms,
                             std::span<float, block_rows> upper) const {
  constexpr std::size_t terms_at_once = 16;  // most queries have fewer; more are taken in turns
  const std::size_t at = block * dimension_;
  auto base = static_cast<float>(coarseness(block, terms));
  for (const Term& term : terms) base += term.coefficient * lowest_[at + term.dimension];
  std::fill(upper.begin(), upper.end(), base);
  float largest = base;
  for (std::size_t first = 0; first < terms.size(); first += terms_at_once) {
    const auto part = terms.subspan(first, std::min(terms_at_once, terms.size() - first));
    std::array<Term, terms_at_once> stepped;
    for (std::size_t t = 0; t < part.size(); ++t) {
      stepped[t] = {part[t].dimension, part[t].coefficient * steps_[at + part[t].dimension]};
    }
    largest = add_code_scores(stepped.data(), part.size(), codes_.data() + at * block_rows, upper.data());
  }
  return largest;
}

// How far codes may be from the values they stand for: half a step each, and a little.
double RowCodes::coarseness(std::size_t block, std::span<const Term> terms) const {
  double coarseness = 0;
  for (const Term& term : terms) {
    coarseness += 0.51 * std::abs(static_cast<double>(term.coefficient)) *
                  static_cast<double>(steps_[block * dimension_ + term.dimension]);
  }
  return coarseness;
}

namespace {

constexpr std::size_t sampled_rows = 512;  // enough to tell which dimension varies most

class Splitter {
 public:
  Splitter(const RowBatch& rows, std::vector<std::uint32_t>& order)
      : rows_(rows), order_(order), sums_(rows.dimension), squares_(rows.dimension) {}

  // The depth is the logarithm of the number of blocks.
  void split(std::size_t begin, std::size_t end) {  // NOLINT(misc-no-recursion)
    const std::size_t rows = end - begin;
    if (rows <= block_rows) return;
    const std::size_t unit = rows > block_rows * group_blocks ? block_rows * group_blocks : block_rows;
    const std::size_t units = (rows + unit - 1) / unit;
    const std::size_t middle = begin + units / 2 * unit;
    const std::size_t dimension = most_varied(begin, end);
    const auto first = order_.begin();
    std::nth_element(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(middle),
                     first + static_cast<std::ptrdiff_t>(end), [&](std::uint32_t left, std::uint32_t right) {
                       const float a = value(left, dimension);
                       const float b = value(right, dimension);
                       return a != b ? a < b : left < right;
                     });
    split(begin, middle);
    split(middle, end);
  }

 private:
  float value(std::uint32_t row, std::size_t dimension) const {
    return rows_.values[row * rows_.dimension + dimension];
  }

  std::size_t most_varied(std::size_t begin, std::size_t end) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill(squares_.begin(), squares_.end(), 0.0);
    const std::size_t step = std::max<std::size_t>(1, (end - begin) / sampled_rows);
    double samples = 0;
    for (std::size_t i = begin; i < end; i += step, ++samples) {
      const auto row = rows_.row(order_[i]);
      for (std::size_t d = 0; d < row.size(); ++d) {
        sums_[d] += row[d];
        squares_[d] += static_cast<double>(row[d]) * row[d];
      }
    }
    std::size_t best = 0;
    double widest = -1;
    for (std::size_t d = 0; d < sums_.size(); ++d) {
      const double variance = squares_[d] - sums_[d] * sums_[d] / samples;
      if (variance > widest) {
        widest = variance;
        best = d;
      }
    }
    return best;
  }

  const RowBatch& rows_;
  std::vector<std::uint32_t>& order_;
  std::vector<double> sums_, squares_;
};

}  // namespace

std::vector<std::uint32_t> spatial_order(const RowBatch& rows) {
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  Splitter(rows, order).split(0, order.size());
  return order;
}

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
