#pragma once
// A vector on a grid: whole numbers of one step, a power of two. The low bits of a floating-point sum tell
// more than its value (Mironov 2012); a grid vector has none. Mechanisms round their input to the grid, add
// integer noise, and charge the rounding in the sensitivity they calibrate to.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/noise/grid_noise.h"

namespace sotto {

struct GridVector {
  double step = 1;
  std::vector<std::int64_t> steps;

  // Exact while |steps| < 2^53: the step is a power of two.
  std::vector<double> reals() const;
};

// The power of two for which noise of this scale has between 2^19 and 2^20 steps.
double grid_step_for(double noise_scale);

// Nearest grid points. Refuses values that are not finite or whose distance from zero is 2^52 steps or more.
Result<GridVector> snap(std::span<const double> values, double step);

// How much further apart two snapped vectors can be than the vectors themselves: half a step at each end of
// each coordinate.
double snapping_l1_charge(double step, std::uint64_t dimension);
double snapping_l2_charge(double step, std::uint64_t dimension);

void add_noise(GridVector& vector, const GridNoise& noise, RandomSource& random);

}  // namespace sotto
