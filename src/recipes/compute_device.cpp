#include "recipes/compute_device.h"

namespace sotto {

Result<torch::Device> compute_device(const std::string& name) {
  if (name == "cpu") return torch::Device(torch::kCPU);
  if (name != "cuda") return bad_input("unknown device '{}': cpu or cuda", name);
  if (!torch::cuda::is_available())
    return bad_input("this build of libtorch sees no CUDA device: use --device cpu");
  return torch::Device(torch::kCUDA);
}

}  // namespace sotto
