#pragma once
// Local training of a cohort with copies of touched rows in one batch, against one user after another on
// copies of the whole model. Both give the same mean difference.

#include <vector>

#include "base/bench.h"
#include "base/result.h"

namespace sotto {

Result<std::vector<BenchRow>> bench_copies();

}  // namespace sotto
