#include "fl/item_pairs.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sotto {

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

}  // namespace sotto
