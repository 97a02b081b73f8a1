#pragma once
// Randomness that may protect a real person. Mechanisms that produce what leaves a device take this type and
// nothing else: it comes from the secure generator, or from a source that was named a simulation in the code
// that made it. A non-owning handle: the generator must outlive it. Not thread-safe, like the generator.

#include "base/random.h"

namespace sotto::privacy {

class DeviceRandom {
 public:
  DeviceRandom(SecureRandom& secure)
      : source_(&secure) {}  // NOLINT(google-explicit-constructor): the normal way

  // Reproducible draws for tests and simulated devices. Nobody is protected by them.
  static DeviceRandom simulated(RandomSource& source) { return DeviceRandom(&source); }

  RandomSource& source() const { return *source_; }

 private:
  explicit DeviceRandom(RandomSource* source) : source_(source) {}
  RandomSource* source_;
};

}  // namespace sotto::privacy
