#pragma once
// What a device says about its items in two private sums. With x the 0/1 vector of a device's items:
//
//   counts: x / ‖x‖                                               one number per item
//   pairs:  upper triangle of y yᵀ, y = x on the chosen items, ‖y‖ = 1; off the diagonal times √2
//
// Both vectors have norm 1 (0 for a device without such items) and no negative entry; the √2 makes the norm
// of the triangle that of the whole symmetric matrix. Pure functions, safe from several threads.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace sotto {

// Coordinates of the triangle for so many items.
std::uint64_t pair_count(std::uint64_t items);

// own: distinct items of a device. Length: `items`.
std::vector<float> item_shares(std::span<const ItemId> own, std::size_t items);

// The items with the largest counts, largest first; equal ones by number.
std::vector<ItemId> most_counted(std::span<const float> counts, std::size_t chosen);

// own: distinct positions (below `items`) of a device's items among the chosen ones, ascending.
// Row by row from the diagonal on: (0,0), (0,1), ..., (1,1), (1,2), ...; length: pair_count(items).
std::vector<float> pair_shares(std::span<const std::uint32_t> own, std::size_t items);

}  // namespace sotto
