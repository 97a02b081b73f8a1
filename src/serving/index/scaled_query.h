#pragma once
// A query made ready for searching.
//
// The score of a row x is the sum of a_i * x_i over i in ascending order, in double precision. Products of
// two floats are exact there, so the score has the same bits on every machine, with and without fused
// multiply-add. Coefficients are multiplied by a power of two (exactly) so that the largest lies in [1, 2):
// single precision can then neither overflow nor lose everything, and a quick score differs from the exact
// one by at most slack().
//
// Immutable after creation; owns its numbers.

#include <span>
#include <vector>

#include "base/result.h"
#include "serving/index/scan_kernels.h"

namespace sotto::serving {

constexpr std::size_t most_dimensions = 4096;
// Larger ones are no scores of anything; below it no sum of products overflows single precision.
constexpr float largest_value = 1e18F;

// Finite and at most largest_value in size.
Status check_values(std::span<const float> values);

class ScaledQuery {
 public:
  static Result<ScaledQuery> create(std::span<const float> coefficients, std::size_t dimension);

  std::span<const Term> terms() const { return terms_; }
  std::span<const double> coefficients() const { return coefficients_; }  // of the terms
  // value_of(dimension) is the row's number there.
  template <class ValueOf>
  double score(ValueOf value_of) const {
    double sum = 0;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      sum += coefficients_[t] * static_cast<double>(value_of(terms_[t].dimension));
    }
    return sum;
  }
  // How far quick scores and bounds may be off for rows whose numbers are at most largest[dimension] in size.
  double slack(std::span<const float> largest) const;
  // A score as the caller's coefficients give it.
  double unscale(double score) const;

 private:
  std::vector<Term> terms_;           // those not zero, ascending by dimension
  std::vector<double> coefficients_;  // scaled, exact
  int exponent_ = 0;                  // scaled = given * 2^exponent
};

}  // namespace sotto::serving
