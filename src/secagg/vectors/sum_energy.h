#pragma once
// Is a group's sum one that clipped updates and their noise can give? n updates of norm at most Δ̃ and noise
// of variance σ² in each of d coordinates have energy at most
//
//   (nΔ̃)² + σ²d + t·(σ²√(2d) + 2σ·nΔ̃)
//
// but with probability below exp(−t²/2) or so, t = 10. A device that sends what is no clipped update can
// move a sum by any amount modulo 2^b: most such lies break this bound, and the group's sum is thrown away.
// One liar can still move it by as much as the bound leaves, which is not less than all n honest ones could.
// A function of the released sum: costs nobody anything. Pure functions.

#include <span>

#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {

// In grid steps squared. Without noise in the plan only the first term.
double largest_energy(const EncodingPlan& plan);

// Σ of the squares of a sum's entries, each taken as the number closest to zero.
double energy_of(const EncodingPlan& plan, std::span<const std::uint32_t> sum);

}  // namespace sotto::secagg
