#pragma once
// Updates that are products: the upper triangle of y yᵀ, entries off the diagonal times √2, row by row from
// the diagonal on. As y may have any signs, so may the entries, and yet two such updates are never further
// apart than a right angle:
//
//   ‖y yᵀ − z zᵀ‖² = ‖y‖⁴ + ‖z‖⁴ − 2(y·z)² ≤ ‖y‖⁴ + ‖z‖⁴        (≤ 2 when ‖y‖, ‖z‖ ≤ 1)
//
// Rounding would break that, so it is charged: every entry is rounded to the nearest whole number, which
// moves d of them by at most r = √d/2 together, whatever they are. Two rounded updates in steps of `step` are
// at most √2·S/step + 2r apart, S bounding ‖y‖².
//
// What arrives is not believed to be a product: y is read off the diagonal and one row, shortened to
// ‖y‖² ≤ S, and its product is what is rounded. Pure functions, safe from several threads.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace sotto::secagg {

// How many rows a triangle of so many entries has; nothing when none has as many.
std::optional<std::uint64_t> rows_of_triangle(std::uint64_t entries);

// Of two rounded products, in whole numbers.
double furthest_products(double bound, double step, std::uint64_t entries);
// Of one, from zero.
double longest_product(double bound, double step, std::uint64_t entries);

// The y whose product the triangle is, ‖y‖² ≤ bound; of a triangle that is no product, some such y. Its first
// entry that is not 0 may have either sign: products do not tell. Refuses NaN and infinity, and a length that
// is no triangle's.
template <class Number>
Result<std::vector<double>> factor_of(std::span<const Number> triangle, double bound);

// y yᵀ in steps, to the nearest whole numbers; whole.size() is the triangle's.
void round_product(std::span<const double> factor, double step, std::span<std::int32_t> whole);

}  // namespace sotto::secagg
