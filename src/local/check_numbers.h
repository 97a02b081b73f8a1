#pragma once
// What every trainer refuses, in inputs and results.

#include <span>

#include "base/result.h"
#include "local/local_trainer.h"

namespace sotto::local {

bool all_finite(std::span<const float> numbers);
// As many as the layout has, and finite.
Status check_parameters(const Layout& layout, std::span<const float> parameters);
Status check_result(const LocalUpdate& update);
// An error that check_result() made, wherever it travelled since.
bool came_from_result(const Error& error);
// Of all items' scores, those of these.
Result<std::vector<float>> chosen_scores(std::span<const float> all, std::span<const ItemRow> items);

}  // namespace sotto::local
