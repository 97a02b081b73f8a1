#pragma once
// Speed of masking beside the bare cipher.

#include <vector>

#include "base/bench.h"
#include "base/result.h"

namespace sotto {

// For both ciphers and every word width: bytes of mask added to a vector of 2^20 entries per second of
// processor time, beside the same cipher writing its stream and doing nothing with it. About `seconds` per
// row. Fails when the masked vector is not the one a plain loop over the whole stream gives.
Result<std::vector<BenchRow>> bench_masks(double seconds = 0.3);

}  // namespace sotto
