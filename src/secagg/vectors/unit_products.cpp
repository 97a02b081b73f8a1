#include "secagg/vectors/unit_products.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::secagg {

namespace {

// What double precision may be off by, relative to the length of an update: far more than it is.
constexpr double arithmetic = 1e-9;

// Where row `row` of the triangle starts, with its diagonal.
std::size_t start_of(std::size_t row, std::size_t rows) { return row * rows - row * (row + 1) / 2 + row; }

}  // namespace

std::optional<std::uint64_t> rows_of_triangle(std::uint64_t entries) {
  auto rows = static_cast<std::uint64_t>(std::sqrt(2.0 * static_cast<double>(entries)));
  while (rows > 0 && rows * (rows + 1) / 2 > entries) --rows;
  if (rows == 0 || rows * (rows + 1) / 2 != entries) return std::nullopt;
  return rows;
}

double furthest_products(double bound, double step, std::uint64_t entries) {
  return (std::numbers::sqrt2 * bound / step + std::sqrt(static_cast<double>(entries))) * (1 + arithmetic);
}

double longest_product(double bound, double step, std::uint64_t entries) {
  return (bound / step + std::sqrt(static_cast<double>(entries)) / 2) * (1 + arithmetic);
}

template <class Number>
Result<std::vector<double>> factor_of(std::span<const Number> triangle, double bound) {
  const auto rows = rows_of_triangle(triangle.size());
  if (!rows) return bad_input("{} entries are no triangle of products", triangle.size());
  if (!std::all_of(triangle.begin(), triangle.end(), [](Number entry) { return std::isfinite(entry); }))
    return bad_input("the update has an entry that is not a finite number");
  std::vector<double> factor(*rows);
  std::size_t largest = 0;
  for (std::size_t row = 0; row < factor.size(); ++row) {
    factor[row] = std::sqrt(std::max<double>(triangle[start_of(row, factor.size())], 0));
    if (factor[row] > factor[largest]) largest = row;
  }
  // The signs are those of the products with the largest entry.
  for (std::size_t other = 0; other < factor.size(); ++other) {
    const auto [first, second] = std::minmax(largest, other);
    if (triangle[start_of(first, factor.size()) + second - first] < 0) factor[other] = -factor[other];
  }
  double squares = 0;
  for (const double entry : factor) squares += entry * entry;
  if (squares > bound) {
    const double shorter = std::sqrt(bound / squares);
    for (double& entry : factor) entry *= shorter;
  }
  return factor;
}

template Result<std::vector<double>> factor_of(std::span<const float> triangle, double bound);
template Result<std::vector<double>> factor_of(std::span<const double> triangle, double bound);

void round_product(std::span<const double> factor, double step, std::span<std::int32_t> whole) {
  std::int32_t* next = whole.data();
  for (std::size_t row = 0; row < factor.size(); ++row) {
    const double diagonal = factor[row] / step, beside = std::numbers::sqrt2 * diagonal;
    *next++ = static_cast<std::int32_t>(std::nearbyint(diagonal * factor[row]));
    for (std::size_t other = row + 1; other < factor.size(); ++other)
      *next++ = static_cast<std::int32_t>(std::nearbyint(beside * factor[other]));
  }
}

}  // namespace sotto::secagg
