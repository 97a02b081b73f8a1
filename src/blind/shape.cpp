#include "blind/shape.h"

#include <algorithm>
#include <cmath>

namespace sotto::blind {

namespace {

constexpr std::uint32_t wanted_probes = 3;
constexpr std::size_t word_bytes = 4;

// The squarest one whose probes take at most `bytes`; none: not even one cluster does.
std::optional<Shape> shape_within(std::size_t slots, std::uint32_t dimension, std::uint32_t probes,
                                  std::size_t bytes) {
  const auto square = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(slots))));
  // 4·d·C + 4·M with M = slots/C: from the square one down, until it fits.
  for (std::size_t clusters = std::min<std::size_t>(square, ShapeLimits::clusters); clusters >= 1;
       clusters = clusters * 15 / 16) {
    const std::size_t rows = (slots + clusters - 1) / clusters;
    if (rows > ShapeLimits::rows) return std::nullopt;
    const std::size_t needed = probes * word_bytes * (clusters * dimension + rows);
    if (needed <= bytes)
      return Shape{dimension, static_cast<std::uint32_t>(clusters), static_cast<std::uint32_t>(rows), probes};
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
    const auto shape = shape_within(slots, dimension, probes, budget.refresh_bytes);
    if (!shape || cost_of(*shape).hint > budget.hint_bytes || !choose_parameters(*shape)) continue;
    return *shape;
  }
  const auto square = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(slots))));
  return bad_input(
      "{} items of {} numbers cannot be served blindly with {} bytes per refresh and a hint of {} bytes: "
      "about {} and {} are needed with {} probe(s)",
      items, dimension, budget.refresh_bytes, budget.hint_bytes,
      least * word_bytes * square * (dimension + 1), word_bytes * ring_degree * square, least);
}

}  // namespace sotto::blind
