#pragma once
// Sums over rows: dot products of all pairs, means, lengths.

#include "eval/experiments/serving/rows.h"

namespace sotto::private_serving {

double dot(std::span<const float> a, std::span<const float> b);
// Cosine; 0 when one of them is zero.
double cosine(std::span<const float> a, std::span<const float> b);
// Length 1; a zero row stays zero.
void normalise(std::span<float> row);
void normalise_rows(Rows& rows);
std::vector<float> mean_row(const Rows& rows);
// [a.size(), b.size()]: every row of a with every row of b, on all threads.
Rows products(const Rows& a, const Rows& b);
// The row `count` times.
Rows repeated(std::span<const float> row, std::size_t count);

}  // namespace sotto::private_serving
