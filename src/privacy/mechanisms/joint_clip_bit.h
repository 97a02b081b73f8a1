#pragma once
// The clipping bit as one more coordinate of the update, so that bound and model share a single noisy sum.
//
// A user sends (clipped update, (b − ½)·c) with b = 1 when the norm was within S before clipping. The joint
// L2 norm is at most √(S² + c²/4), which is all that clipping and noise need to know. With noise σ per
// coordinate of the sum of M users, the fraction b is known up to σ/(cM).
//
// Immutable, copyable, safe to share between threads.

#include <span>
#include <vector>

#include "base/result.h"

namespace sotto {

class JointClipBit {
 public:
  static Result<JointClipBit> create(double bound, double bit_weight);

  // The clipped update with the bit behind it.
  Result<std::vector<double>> extend(std::span<const double> update) const;
  double joint_bound() const;
  // The share of users within the bound, from the last coordinate of the (noisy) sum over `users` users.
  double fraction(double bit_sum, double users) const { return bit_sum / (bit_weight_ * users) + 0.5; }

 private:
  JointClipBit(double bound, double bit_weight) : bound_(bound), bit_weight_(bit_weight) {}
  double bound_;
  double bit_weight_;
};

}  // namespace sotto
