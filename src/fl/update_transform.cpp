#include "fl/update_transform.h"

namespace sotto {

void ClipNorm::apply(std::uint32_t, UserId, torch::Tensor& update) const {
  const double norm = update.norm().item<double>();
  if (norm > limit_) update.mul_(limit_ / norm);
}

}  // namespace sotto
