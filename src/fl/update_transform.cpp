#include "fl/update_transform.h"

#include "privacy/noise/simulated_noise.h"

namespace sotto {

void ClipNorm::apply(std::uint32_t, UserId, torch::Tensor& update) const {
  // The factor stays where the update is: reading the norm would make the CPU wait for a card at every user.
  update.mul_((limit_ / update.norm().to(torch::kFloat64)).clamp_max(1));
}

void ElementwiseLaplaceNoise::apply(std::uint32_t round, UserId user, torch::Tensor& update) const {
  torch::Tensor noisy = update.to(torch::kCPU, torch::kFloat32).clamp(-clip_, clip_).contiguous();
  SeededRandom random(seed_, Purpose::noise, round, user);
  const auto added = SimulatedNoise(random).add_laplace(
      std::span<float>(noisy.data_ptr<float>(), static_cast<std::size_t>(noisy.numel())), scale_);
  TORCH_CHECK(added, "the scale of Laplace noise must be positive");
  update.copy_(noisy);
}

}  // namespace sotto
