#pragma once
// Speed and memory of training, each against a baseline in the same process with the same answer.

#include <vector>

#include "base/bench.h"
#include "base/result.h"

namespace sotto {

// One summed step of FedNewsRec over 50 users: its arithmetic against a bare matrix product, its time against
// the model as one writes it first. On one thread and on all.
Result<std::vector<BenchRow>> bench_step();

// Rounds of 50 users against one user after another: summed gradients, each user's own gradient, each user's
// own copy for two local epochs.
Result<std::vector<BenchRow>> bench_cohort();

// Peak memory of rounds of 1,000 users.
Result<std::vector<BenchRow>> bench_memory();

}  // namespace sotto
