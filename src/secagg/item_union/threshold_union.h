#pragma once
// Items that at least `threshold` devices hold, by exact counts inside the secure sum.
//
// NOT differentially private, whatever the threshold: whoever knows all holders of an item but one learns
// from its name whether that one holds it, and the server sees every count before it applies the threshold.
// guarantee() is therefore empty. Use PrivateUnion where a promise is needed.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "privacy/accounting/event.h"
#include "secagg/vectors/modulus.h"

namespace sotto {

class ThresholdUnion {
 public:
  static Result<ThresholdUnion> create(std::uint64_t catalogue, std::uint64_t devices,
                                       std::uint64_t threshold);

  // One entry per item. Deterministic: there is nothing to hide behind.
  Result<std::vector<std::uint32_t>> encode(std::span<const std::uint32_t> items) const;
  Result<std::vector<std::uint32_t>> decode(std::span<const std::uint32_t> sum) const;

  std::optional<Guarantee> guarantee() const { return std::nullopt; }
  const Modulus& modulus() const { return modulus_; }
  std::size_t bytes_per_device() const;

 private:
  ThresholdUnion(std::uint64_t catalogue, std::uint64_t threshold, Modulus modulus)
      : catalogue_(catalogue), threshold_(threshold), modulus_(modulus) {}
  std::uint64_t catalogue_;
  std::uint64_t threshold_;
  Modulus modulus_;
};

}  // namespace sotto
