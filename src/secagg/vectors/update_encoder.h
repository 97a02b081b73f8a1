#pragma once
// The device's side of a private sum: from an update in real numbers to entries modulo 2^b that may be masked
// and sent.
//
// Immutable, safe to share between threads; one call per update and round, with fresh randomness: encoding
// the same update twice releases it twice. The update before noise is wiped before encode() returns.

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/noise/device_random.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

class UpdateEncoder {
 public:
  explicit UpdateEncoder(EncodingPlan plan) : plan_(std::move(plan)) {}

  // plan().entries() numbers below 2^b. Refuses updates of another length or with NaN and infinity.
  Result<std::vector<std::uint32_t>> encode(std::span<const double> update, DeviceRandom random) const;
  Result<std::vector<std::uint32_t>> encode(std::span<const float> update, DeviceRandom random) const;

  const EncodingPlan& plan() const { return plan_; }

 private:
  Result<std::vector<double>> on_the_grid(std::span<const double> update) const;
  EncodingPlan plan_;
};

}  // namespace sotto
