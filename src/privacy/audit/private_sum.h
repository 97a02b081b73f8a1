#pragma once
// The noisy sum of one training round behind a single door: clipped updates in, noised sum out.
//
// Not thread-safe: one per training. release() ends a round and empties the sum.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"

namespace sotto {

enum class SumNoise {
  gaussian_at_server,  // ClippedMean
  skellam_on_devices,  // the same grid and clipping, with a NoiseShare from every device
  laplace_at_server,   // updates clipped in L1, LaplaceMechanism
};

class PrivateSum {
 public:
  struct Settings {
    SumNoise noise = SumNoise::gaussian_at_server;
    double clip = 0;
    double noise_multiplier = 0;  // σ over the clipping bound; for Laplace noise the scale over it
    std::uint64_t dimension = 0;
    std::uint64_t devices = 0;  // that make noise shares
  };
  static Result<std::unique_ptr<PrivateSum>> create(const Settings& settings);

  PrivateSum() = default;
  PrivateSum(const PrivateSum&) = delete;
  PrivateSum& operator=(const PrivateSum&) = delete;
  virtual ~PrivateSum() = default;

  virtual Status add(std::span<const double> update) = 0;
  virtual std::vector<double> exact() const = 0;
  virtual Result<std::vector<double>> release(DeviceRandom random) = 0;
  virtual PrivacyEvent round_event() const = 0;  // one user more or fewer
};

}  // namespace sotto
