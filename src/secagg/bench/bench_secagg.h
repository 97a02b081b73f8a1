#pragma once
// Secure aggregation at the sizes that matter, beside a textbook implementation and beside fixed targets.

#include <vector>

#include "base/bench.h"
#include "base/result.h"

namespace sotto {

// Which of the rounds to run: the large ones take a while.
struct SecAggBenchSettings {
  bool small = true;   // 50 clients × 1.1 million entries
  bool medium = true;  // 100 clients × 2^20 entries, 5 lost, beside the textbook
  bool large = true;   // 1,000 clients × 2^17 entries, 100 lost
};

// Entries of 16 bits. Every sum is compared with the plain one; a difference is an error.
Result<std::vector<BenchRow>> bench_secagg(const SecAggBenchSettings& settings = {});

}  // namespace sotto
