#pragma once
// What a run was trained on, in 16 hexadecimal digits: equal for equal content, wherever the folder lies and
// whatever the data set is called. It finds mistakes; against somebody who forges data it protects nothing.

#include <string>

#include "data/dataset.h"

namespace sotto::data {

// Reads every column once.
std::string fingerprint(const Dataset& dataset);

}  // namespace sotto::data
