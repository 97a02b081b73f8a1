#pragma once
// Item vectors that a device has fetched, as models read them.

#include <span>

#include "local/local_trainer.h"

namespace sotto::local {

// Whether the items are vectors of so many numbers.
Status check_vectors(const RoundInputs& inputs, Index size);
// [items, D]. The items must be there.
Rows rows_of(const RoundInputs& inputs, std::span<const ItemRow> items);

}  // namespace sotto::local
