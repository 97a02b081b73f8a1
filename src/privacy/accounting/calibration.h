#pragma once
// The smallest noise that meets a budget: the library's one search. It keeps an upper end whose ε was
// computed and found within the budget, and that end is the answer: never less noise than needed, at most
// 0.01 % more.

#include <functional>

#include "base/result.h"

namespace sotto {

// The ε that holds with so much noise; it falls as the noise grows. A refusal counts as too little noise, and
// is told when no noise is enough.
using EpsilonOfNoise = std::function<Result<double>(double noise)>;

Result<double> smallest_noise(double epsilon, const EpsilonOfNoise& epsilon_of);

}  // namespace sotto
