#pragma once
// What happens to one user's update before it is aggregated. Transforms run in the order given.

#include <memory>
#include <vector>

#include "data/dataset.h"
#include "model/tensor.h"

namespace sotto {

class UpdateTransform {
 public:
  virtual ~UpdateTransform() = default;
  // Changes `update` [P] in place.
  virtual void apply(std::uint32_t round, UserId user, torch::Tensor& update) const = 0;
};

// Scales an update down to an L2 norm of at most `limit`. Not a privacy guarantee without noise.
class ClipNorm final : public UpdateTransform {
 public:
  explicit ClipNorm(double limit) : limit_(limit) {}
  void apply(std::uint32_t round, UserId user, torch::Tensor& update) const override;

 private:
  double limit_;
};

// FedNewsRec's upload (Qi et al. 2020, Eq. 4): every coordinate clipped to [-clip, clip], then
// Laplace(scale). Simulated noise, addressed by (seed, round, user); what it is worth says ElementwiseLaplace
// in privacy.
class ElementwiseLaplaceNoise final : public UpdateTransform {
 public:
  ElementwiseLaplaceNoise(double clip, double scale, std::uint64_t seed)
      : clip_(clip), scale_(scale), seed_(seed) {}
  void apply(std::uint32_t round, UserId user, torch::Tensor& update) const override;

 private:
  double clip_, scale_;
  std::uint64_t seed_;
};

using UpdateTransforms = std::vector<std::unique_ptr<UpdateTransform>>;

}  // namespace sotto
