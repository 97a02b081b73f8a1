#include "blind/shape.h"

#include <algorithm>
#include <cmath>

namespace sotto::blind {

namespace {

constexpr std::uint32_t wanted_probes = 3;
constexpr std::size_t word_bytes = 4;
// A probe should see so many items where there are as many: their part of the hint is 8 MB.
constexpr std::size_t wanted_rows = 2048;

std::size_t root_of(std::size_t slots) {
  return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(slots))));
}

// With as many clusters as the bytes of a refresh allow, and no more than are wanted. None: not even one
// cluster fits.
std::optional<Shape> shape_within(std::size_t slots, std::uint32_t dimension, std::uint32_t most_probes,
                                  const ShapeBudget& budget) {
  const std::size_t most_rows =
      std::min<std::size_t>(ShapeLimits::rows, budget.hint_bytes / (word_bytes * ring_degree));
  const std::size_t rows_wanted = std::min({std::max(root_of(slots), wanted_rows), most_rows, slots});
  if (rows_wanted == 0) return std::nullopt;
  std::size_t clusters = (slots + rows_wanted - 1) / rows_wanted;
  for (; clusters >= 1; clusters = clusters * 15 / 16) {
    const std::size_t rows = (slots + clusters - 1) / clusters;
    if (rows > most_rows) return std::nullopt;
    const std::size_t probes = std::min<std::size_t>(most_probes, clusters);
    if (clusters <= ShapeLimits::clusters &&
        probes * word_bytes * (clusters * dimension + rows) <= budget.refresh_bytes) {
      return Shape{dimension, static_cast<std::uint32_t>(clusters), static_cast<std::uint32_t>(rows),
                   static_cast<std::uint32_t>(probes)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::size_t slots_for(std::size_t items) { return items + items / 8 + 1; }

ShapeCost cost_of(const Shape& shape) {
  return {.up = word_bytes * shape.probes * shape.columns(),
          .down = word_bytes * shape.probes * shape.rows,
          .hint = word_bytes * ring_degree * shape.rows,
          .database = shape.columns() * shape.rows / 2};
}

Result<Shape> choose_shape(std::size_t items, std::uint32_t dimension, const ShapeBudget& budget) {
  if (items == 0) return bad_input("there is nothing to serve blindly: put items first");
  const std::size_t slots = slots_for(items);
  const std::uint32_t most = budget.probes.value_or(wanted_probes);
  const std::uint32_t least = budget.probes.value_or(1);
  for (std::uint32_t probes = most; probes >= least && probes > 0; --probes) {
    const auto shape = shape_within(slots, dimension, probes, budget);
    if (shape && choose_parameters(*shape)) return *shape;
  }
  const std::size_t square = root_of(slots);
  return bad_input(
      "{} items of {} numbers cannot be served blindly with {} bytes per refresh and a hint of {} bytes: "
      "about {} and {} are needed with {} probe(s)",
      items, dimension, budget.refresh_bytes, budget.hint_bytes,
      least * word_bytes * square * (dimension + 1), word_bytes * ring_degree * square, least);
}

}  // namespace sotto::blind
