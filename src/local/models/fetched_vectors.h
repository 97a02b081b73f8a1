#pragma once
// Item vectors that a device has fetched, as models read them.

#include <span>

#include "local/ranking_model.h"

namespace sotto::local {

// How many there are; refuses vectors of another size.
Result<std::size_t> count_vectors(const RoundInputs& inputs, Index size);
// [items, D], as constants. The items must be there.
Value<float> fetched_vectors(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items);

}  // namespace sotto::local
