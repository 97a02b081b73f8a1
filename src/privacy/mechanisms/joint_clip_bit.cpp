#include "privacy/mechanisms/joint_clip_bit.h"

#include <cmath>

#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

Result<JointClipBit> JointClipBit::create(double bound, double bit_weight) {
  SOTTO_CHECK(require_positive(bound, "clipping bound"));
  SOTTO_CHECK(require_positive(bit_weight, "weight of the clipping bit"));
  return JointClipBit(bound, bit_weight);
}

Result<std::vector<double>> JointClipBit::extend(std::span<const double> update) const {
  std::vector<double> joint(update.begin(), update.end());
  SOTTO_TRY(const double norm, clip_l2(joint, bound_));
  joint.push_back((norm <= bound_ ? 0.5 : -0.5) * bit_weight_);
  return joint;
}

double JointClipBit::joint_bound() const { return std::hypot(bound_, bit_weight_ / 2); }

}  // namespace sotto
