#pragma once
// An order of rows in which neighbours have similar numbers, so that few blocks can hold the best rows of a
// query: a balanced k-d tree, cut at multiples of whole groups and then of whole blocks, across the dimension
// that varies most.

#include <cstdint>
#include <vector>

#include "serving/index/row_batch.h"

namespace sotto::serving {

// A permutation of 0 .. rows.size()-1, a function of the rows alone.
std::vector<std::uint32_t> spatial_order(const RowBatch& rows);

}  // namespace sotto::serving
