#pragma once
// The turn that both sides give to all vectors before anything else: products stay what they are, but
// what an item is stands in all of its numbers alike. Rounding to four bits then errs alike on every item;
// without the turn it cuts the largest number of just those items that somebody likes best.
//
// A cosine transform behind fixed signs: orthogonal in any dimension, and nothing in it depends on the data.

#include <cstddef>
#include <span>
#include <vector>

namespace sotto::blind {

// rows: of `dimension` numbers. No branch and no index depends on the values.
std::vector<float> rotated(std::span<const float> rows, std::size_t dimension);

}  // namespace sotto::blind
