#pragma once
// Which item of an impression was clicked, told privately: PrivateRec's label permutation (DPL) and its
// repair.
//
// Paper: the click and k sampled non-clicks travel; the positive among these k+1 is chosen with odds e^β for
// the real click, β = max(0, log(k/(C−1)·e^ε)). The real click is always among the items sent, so the set
// itself leaks it: no ε holds. Sound: the positive is drawn by randomised response over all C shown items,
// and the k negatives uniformly from the other C−1 without looking at the labels. ε-DP for replacing one
// click inside an impression that the server already knows; each click of an impression costs once.
//
// Both are immutable after creation and safe to share between threads.

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

struct LabelledSample {
  std::uint32_t positive = 0;  // positions within the impression
  std::vector<std::uint32_t> negatives;
};

class PaperLabelPermutation {
 public:
  static Result<PaperLabelPermutation> create(double epsilon, std::uint32_t negatives);
  // clicked[i] != 0 where item i was clicked; `click` is the one to tell. Uses all non-clicks when there are
  // fewer than k.
  Result<LabelledSample> release(std::span<const unsigned char> clicked, std::uint32_t click,
                                 DeviceRandom random) const;
  double beta(std::size_t shown) const;
  MechanismStatement statement() const;

 private:
  PaperLabelPermutation(double epsilon, std::uint32_t negatives) : epsilon_(epsilon), negatives_(negatives) {}
  double epsilon_;
  std::uint32_t negatives_;
};

class SoundLabelRelease {
 public:
  static Result<SoundLabelRelease> create(double epsilon, std::uint32_t negatives);
  // Sends min(k, shown − 1) negatives.
  Result<LabelledSample> release(std::uint32_t shown, std::uint32_t click, DeviceRandom random) const;
  Result<MechanismStatement> statement(std::uint32_t shown) const;

 private:
  SoundLabelRelease(double epsilon, std::uint32_t negatives) : epsilon_(epsilon), negatives_(negatives) {}
  double epsilon_;
  std::uint32_t negatives_;
};

}  // namespace sotto::privacy
