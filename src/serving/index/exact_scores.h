#pragma once
// The exact scores of a whole block at once, for blocks of which many rows come into question.

#include <cstddef>

#include "serving/index/scan_kernels.h"

namespace sotto::serving {

// scores[j] = sum over the terms, in their order, of coefficients[t] * columns[dimension * block_rows + j],
// in double precision: the same bits as ScaledQuery::score(). Not a *_kernels file, because sums must keep
// their order. Returns the largest.
double exact_scores(const Term* terms, const double* coefficients, std::size_t count, const float* columns,
                    double* scores);

}  // namespace sotto::serving
