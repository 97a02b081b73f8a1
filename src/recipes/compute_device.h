#pragma once
// The device that --device names.

#include <string>

#include "base/result.h"
#include "model/tensor.h"

namespace sotto {

// cpu, or cuda where libtorch sees one.
Result<torch::Device> compute_device(const std::string& name);

}  // namespace sotto
