#pragma once
// How alike items are before anybody has been asked: what the public catalogue says of them, and how often
// they are chosen.
//
//   K_ij = d_i d_j ( [i = j] + 2/F · Σ_f k_f(i, j) + Π_f k_f(i, j) ),   d_i = √count_i
//
// k_f: of a feature with up to 100 values (genres, a category) the share of values that two items have in
// common; of a number (a year) exp(−2·distance / its deviation over the catalogue). F features; without any
// K is a diagonal. Entries of the matrix of pairs are larger for items that many like: hence d, no smaller
// than a tenth of the largest. Pure; safe from several threads.

#include <span>
#include <vector>

#include "data/dataset.h"

namespace sotto::fl {

// counts: of all items of the catalogue. Returns [m, m] row by row with a mean of 1 on the diagonal;
// `features` false: as if the catalogue had none.
std::vector<double> item_kernel(const data::Catalogue& catalogue, std::span<const data::ItemId> items,
                                std::span<const float> counts, bool features);

}  // namespace sotto::fl
