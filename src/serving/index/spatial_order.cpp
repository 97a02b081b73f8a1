#include "serving/index/spatial_order.h"

#include <algorithm>
#include <numeric>

#include "serving/index/scan_kernels.h"

namespace sotto::serving {

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

}  // namespace sotto::serving
