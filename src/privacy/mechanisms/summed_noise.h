#pragma once
// The noise of many devices' shares as one draw per coordinate, for simulations that need the law of the sum
// and no device's own part of it.
//
// Skellam shares: the sum of n is Skellam with n times the variance, exactly; it is drawn once (in several
// parts beyond the variance one sampler takes). Discrete Gaussian shares are not closed under sums: every
// share is drawn, as its device would.
//
// Immutable after creation, safe to share between threads.

#include "privacy/mechanisms/noise_share.h"

namespace sotto::privacy {

class SummedNoise {
 public:
  // shares: of the devices that arrived. Refuses none.
  static Result<SummedNoise> create(const NoiseShare& share, std::uint64_t shares);

  void add_to(std::span<std::int64_t> sum, DeviceRandom random) const;
  std::uint64_t draws() const;  // per coordinate
  double variance() const;

 private:
  // So many independent draws of each.
  struct Part {
    GridNoise noise;
    std::uint64_t draws = 1;
  };
  explicit SummedNoise(std::vector<Part> parts) : parts_(std::move(parts)) {}
  std::vector<Part> parts_;
};

}  // namespace sotto::privacy
