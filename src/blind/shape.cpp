#include "blind/shape.h"

#include <algorithm>
#include <cmath>

namespace sotto::blind {

namespace {

// Two more probes bring less than a percent of what is found, and cost a large pool's reader hundreds of
// kilobytes and its server milliseconds each.
constexpr std::uint32_t probes_of_small_pool = 3, probes_of_large_pool = 1;
constexpr std::size_t large_pool = 100'000;  // items
constexpr std::size_t word_bytes = 4;
// A probe should see so many items where there are as many: their part of the hint is 8 MB.
constexpr std::size_t wanted_rows = 2048;
constexpr std::size_t wanted_copies = 3;
constexpr std::size_t least_tastes = 128, most_tastes = 1536;

std::size_t root_of(std::size_t slots) {
  return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(slots))));
}

// With as many clusters as the bytes of a refresh allow, and no more than are wanted. None: not even one
// cluster fits.
std::optional<Shape> shape_within(std::size_t items, std::uint32_t dimension, std::uint32_t most_probes,
                                  const ShapeBudget& budget) {
  const std::size_t most_rows =
      std::min<std::size_t>(ShapeLimits::rows, budget.hint_bytes / (word_bytes * ring_degree));
  const std::size_t slots = slots_for(items);
  const std::size_t rows_wanted = std::min({std::max(root_of(slots), wanted_rows), most_rows, items});
  if (rows_wanted == 0) return std::nullopt;
  const auto filled = [&](std::size_t placed) { return (placed + rows_wanted - 1) / rows_wanted; };
  std::size_t clusters = rows_wanted == items ? 1 : filled(slots);
  if (clusters > 1)
    clusters = std::max(clusters, std::clamp(filled(wanted_copies * items), least_tastes, most_tastes));
  for (; clusters >= 1; clusters = clusters * 15 / 16) {
    const std::size_t rows = clusters == 1 ? items : std::max(rows_wanted, (slots + clusters - 1) / clusters);
    if (rows > most_rows) return std::nullopt;
    const std::size_t probes = std::min<std::size_t>(most_probes, clusters);
    const Shape shape{dimension, static_cast<std::uint32_t>(clusters), static_cast<std::uint32_t>(rows),
                      static_cast<std::uint32_t>(probes)};
    const bool fits = probes * word_bytes * (clusters * dimension + rows) <= budget.refresh_bytes;
    if (fits && choose_parameters(shape)) return shape;
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
  const std::uint32_t most =
      budget.probes.value_or(items < large_pool ? probes_of_small_pool : probes_of_large_pool);
  const std::uint32_t least = budget.probes.value_or(1);
  for (std::uint32_t probes = most; probes >= least && probes > 0; --probes) {
    const auto shape = shape_within(items, dimension, probes, budget);
    if (shape) return *shape;
  }
  // Is it the vectors, whatever the bytes?
  const auto for_one_cluster = choose_parameters({dimension, 1, 1, 1});
  if (!for_one_cluster) return tl::unexpected(for_one_cluster.error());
  const std::size_t square = root_of(slots_for(items));
  return bad_input(
      "{} items of {} numbers cannot be served blindly with {} bytes per refresh and a hint of {} bytes: "
      "about {} and {} are needed with {} probe(s)",
      items, dimension, budget.refresh_bytes, budget.hint_bytes,
      least * word_bytes * square * (dimension + 1), word_bytes * ring_degree * square, least);
}

}  // namespace sotto::blind
