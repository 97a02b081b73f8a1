#pragma once
// What a row of a grid trains with: shared settings, its own, the user's. Nothing is trained here.

#include <string>
#include <vector>

#include "base/result.h"
#include "eval/experiments/grid/grid.h"

namespace sotto::eval {

// The settings that a row of a grid really trains with.
struct RowSettings {
  std::vector<std::string> assignments;  // for the recipe, in the order they are applied
  std::string complete;                  // all settings of the recipe with their values, as JSON
};

// What the recipe knows of the shared settings, if the row takes them, then the row's own, then what it knows
// of `given`. Refuses an unknown recipe, settings of the row that the recipe does not know or that are out of
// range, and what would make the row another one than its label says (Grid::stated).
Result<RowSettings> row_settings(const Grid& grid, const GridRow& row, const std::vector<std::string>& given);

// Every row is valid, no label is used twice in a group, and every assignment of `given` is known to the grid
// or to one of its recipes: nothing is trained before this holds.
Status check_grid(const Grid& grid, const std::vector<std::string>& given);

}  // namespace sotto::eval
