#pragma once
// Speed of the grid noise, random bits from the secure generator included, beside a straightforward sampler
// in the same run. Per core: measured in processor time of the calling thread.

#include <string>
#include <vector>

#include "base/result.h"

namespace sotto {

struct NoiseBenchRow {
  std::string noise;     // "discrete Gaussian"
  std::string baseline;  // what the ratio compares with
  double sigma = 0;
  double ours = 0;            // samples per second and core
  double baseline_rate = 0;   // same unit
  double variance_ratio = 0;  // measured over stated variance: the expected answer is 1
};

// Every noise at σ = 1, 100, 10^4, 10^6; about `seconds` per row. Fails when a measured variance is not the
// stated one.
Result<std::vector<NoiseBenchRow>> bench_noise(double seconds = 0.2);

}  // namespace sotto
