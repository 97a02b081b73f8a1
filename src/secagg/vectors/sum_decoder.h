#pragma once
// The server's side of a private sum: from the sums of the groups, modulo 2^b, to the mean update.
//
// Groups are added as whole numbers, so their order does not matter. The divisor is the plan's public number
// whoever came: dividing by the number of devices that answered would release it. Decodes once. Not
// thread-safe.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "secagg/vectors/encoding_plan.h"

namespace sotto {

struct DecodedMean {
  std::vector<double> update;
  // With a clip bit: the share of devices within the bound, noisy and drawn towards ½ when devices stay away.
  std::optional<double> fraction_within;
};

class SumDecoder {
 public:
  explicit SumDecoder(EncodingPlan plan);

  // The sum of one group, each entry below 2^b. All groups share the plan; each is a release of its own to
  // its devices.
  Status add_group(std::span<const std::uint32_t> sum);
  // Refuses when no group was added, and a second time.
  Result<DecodedMean> decode();

 private:
  EncodingPlan plan_;
  std::vector<std::int64_t> steps_;
  std::uint64_t groups_ = 0;
  bool decoded_ = false;
};

}  // namespace sotto
