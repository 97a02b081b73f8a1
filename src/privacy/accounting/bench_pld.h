#pragma once
// How fast the accountant answers, beside the straightforward way in the same process: the same pessimistic
// lattice laws, one FFT convolution per round.

#include <cstdint>

#include "base/result.h"

namespace sotto {

struct PldBenchSettings {
  double noise_multiplier = 1.0;
  double rate = 0.01;
  std::uint64_t rounds = 1000;
  double delta = 1e-6;
  int repeats = 5;  // ours is the fastest of these
};

struct PldBench {
  double ours_ms = 0;        // bracket: upper and lower bound, both directions
  double ours_upper_ms = 0;  // upper bound alone
  double baseline_ms = 0;    // upper bound alone, round by round
  double ratio = 0;          // baseline_ms / ours_upper_ms
  double ours_epsilon = 0;   // upper bound
  double ours_lower = 0;
  double baseline_epsilon = 0;
};

// An error when the two upper bounds differ by more than 0.1 %.
Result<PldBench> bench_pld(const PldBenchSettings& settings = {});

}  // namespace sotto
