#include "local/models/fetched_vectors.h"

namespace sotto::local {

Result<std::size_t> count_vectors(const RoundInputs& inputs, Index size) {
  if (inputs.items.cols() != size)
    return bad_input("items are vectors of {} numbers and the model reads {}: fetch the items of its version",
                     inputs.items.cols(), size);
  return static_cast<std::size_t>(inputs.items.rows());
}

Value<float> fetched_vectors(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) {
  Rows rows(static_cast<Index>(items.size()), inputs.items.cols());
  for (std::size_t i = 0; i < items.size(); ++i)
    rows.row(static_cast<Index>(i)) = inputs.items.row(static_cast<Index>(items[i]));
  return pass.tape.constant(std::move(rows));
}

}  // namespace sotto::local
