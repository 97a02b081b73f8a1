#include "fl/item_pairs.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sotto {

namespace {

// Eigenvalues this much above the edge of the noise are signal.
constexpr double clearly_above = 1.05;

Eigen::MatrixXd symmetric(std::span<const float> triangle, std::size_t items) {
  const auto size = static_cast<Eigen::Index>(items);
  Eigen::MatrixXd matrix(size, size);
  const float* next = triangle.data();
  for (Eigen::Index row = 0; row < size; ++row) {
    matrix(row, row) = *next++;
    for (Eigen::Index column = row + 1; column < size; ++column)
      matrix(row, column) = matrix(column, row) = *next++ / std::numbers::sqrt2;
  }
  return matrix;
}

}  // namespace

std::uint64_t pair_count(std::uint64_t items) { return items * (items + 1) / 2; }

std::vector<float> item_shares(std::span<const ItemId> own, std::size_t items) {
  std::vector<float> shares(items, 0);
  const auto share = static_cast<float>(1 / std::sqrt(static_cast<double>(own.size())));
  for (const ItemId item : own) shares[item] = share;
  return shares;
}

std::vector<ItemId> most_counted(std::span<const float> counts, std::size_t chosen) {
  std::vector<ItemId> order(counts.size());
  std::iota(order.begin(), order.end(), ItemId{0});
  chosen = std::min(chosen, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen), order.end(),
      [&](ItemId a, ItemId b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
  order.resize(chosen);
  return order;
}

std::vector<float> pair_shares(std::span<const std::uint32_t> own, std::size_t items) {
  std::vector<float> shares(pair_count(items), 0);
  const double once = 1 / static_cast<double>(own.size());
  const auto diagonal = static_cast<float>(once), beside = static_cast<float>(once * std::numbers::sqrt2);
  for (std::size_t i = 0; i < own.size(); ++i) {
    // Rows before this one hold items, items − 1, ... coordinates; this one starts at its diagonal.
    const std::size_t row = own[i], start = row * items - row * (row + 1) / 2;
    shares[start + row] = diagonal;
    for (std::size_t j = i + 1; j < own.size(); ++j) shares[start + own[j]] = beside;
  }
  return shares;
}

std::vector<float> vectors_from_pairs(std::span<const float> mean, std::size_t items, double coordinate_noise,
                                      const SpectrumSettings& settings) {
  const auto size = static_cast<std::size_t>(settings.vectors);
  std::vector<float> rows(items * size, 0);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(symmetric(mean, items));
  const double edge = 2 * coordinate_noise / std::numbers::sqrt2 * std::sqrt(static_cast<double>(items));
  for (std::size_t k = 0; k < std::min(size, items); ++k) {
    const auto largest = static_cast<Eigen::Index>(items - 1 - k);  // they come in ascending order
    const double w = spectrum.eigenvalues()(largest);
    if (!(w > clearly_above * edge) || w <= 0) break;
    const double s = std::sqrt(w * w - edge * edge), weight = std::sqrt(s / (s + settings.ridge));
    for (std::size_t i = 0; i < items; ++i)
      rows[i * size + k] =
          static_cast<float>(weight * spectrum.eigenvectors()(static_cast<Eigen::Index>(i), largest));
  }
  return rows;
}

}  // namespace sotto
