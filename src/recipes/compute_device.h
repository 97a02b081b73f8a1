#pragma once
// The device that --device names.

#include <torch/torch.h>

#include <string>

#include "base/result.h"

namespace sotto {

// cpu, or cuda where libtorch sees one.
Result<torch::Device> compute_device(const std::string& name);

}  // namespace sotto
