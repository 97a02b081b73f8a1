#pragma once
// Gradients of a function of matrices by the tape, against central differences in double.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/distributions.h"
#include "local/tape/arithmetic.h"
#include "local/tape/rows.h"

namespace sotto::local::testing {

using Numbers = Matrix<double>;
using Inputs = std::vector<Value<double>>;
using Function = std::function<Value<double>(const Inputs& inputs)>;

inline Numbers random_numbers(Index rows, Index cols, std::uint64_t seed, double shift = 0) {
  SeededRandom random(seed, Purpose::test);
  Numbers numbers(rows, cols);
  for (double& number : numbers.reshaped()) number = shift + normal(random);
  return numbers;
}

// The result's numbers weighted differently, so that no gradient can hide in a sum: [1, 1].
inline Value<double> mixed(const Value<double>& result) {
  Tape<double>& tape = result.tape();
  const Numbers weights = random_numbers(result.rows(), result.cols(), 77);
  const Value<double> sums =
      product(result * tape.constant(weights), tape.constant(Numbers::Ones(result.cols(), 1)));
  return product(tape.constant(Numbers::Ones(1, result.rows())), sums);
}

inline double evaluated(const Function& function, const std::vector<Numbers>& at) {
  Tape<double> tape;
  Inputs inputs;
  for (const Numbers& input : at) inputs.push_back(tape.constant(input));
  return mixed(function(inputs)).numbers()(0, 0);
}

inline void expect_gradients(const Function& function, const std::vector<Numbers>& at) {
  Tape<double> tape;
  Inputs inputs;
  for (const Numbers& input : at) inputs.push_back(tape.trained(input));
  tape.backward(mixed(function(inputs)));
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < at.size(); ++i) {
    double size = 0;
    for (Index place = 0; place < at[i].size(); ++place) {
      std::vector<Numbers> up = at, down = at;
      up[i].data()[place] += step;
      down[i].data()[place] -= step;
      const double slope = (evaluated(function, up) - evaluated(function, down)) / (2 * step);
      EXPECT_NEAR(inputs[i].gradient().data()[place], slope, 1e-7 * std::max(1.0, std::abs(slope)))
          << "input " << i << ", number " << place;
      size += std::abs(slope);
    }
    EXPECT_GT(size, 0) << "input " << i << " does not matter";
    // An input that is only read changes nothing about the others.
    Tape<double> other;
    Inputs mixed_inputs;
    for (std::size_t j = 0; j < at.size(); ++j)
      mixed_inputs.push_back(j == i ? other.trained(at[j]) : other.constant(at[j]));
    other.backward(mixed(function(mixed_inputs)));
    EXPECT_TRUE(mixed_inputs[i].gradient().isApprox(inputs[i].gradient(), 1e-12));
  }
}

}  // namespace sotto::local::testing
