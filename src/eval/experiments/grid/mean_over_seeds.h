#pragma once

#include <span>

namespace sotto {

struct MeanAndError {
  double mean = 0;
  double error = 0;  // standard error of the mean; NaN when one value cannot tell
};

// The error is the sample's standard deviation over the root of the count. No values: NaN.
MeanAndError mean_over_seeds(std::span<const double> values);

}  // namespace sotto
