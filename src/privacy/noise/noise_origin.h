#pragma once
// Where the noise of a run comes from, and the cohorts whose secrecy an ε counts on. Secret: the secure
// generator, and only then an ε holds. Reproducible: addressed by (seed, purpose, round, user), for
// simulations that say so, because whoever knows the seed can take the noise away again.

#include <optional>

#include "base/random.h"
#include "privacy/noise/device_random.h"

namespace sotto::privacy {

// A plain value.
class NoiseOrigin {
 public:
  static NoiseOrigin secret() { return {}; }
  static NoiseOrigin reproducible(std::uint64_t seed) {
    NoiseOrigin origin;
    origin.seed_ = seed;
    return origin;
  }

  bool is_secret() const { return !seed_; }
  std::optional<std::uint64_t> seed() const { return seed_; }
  // The same kind of noise at another address; secret noise has none.
  NoiseOrigin readdressed(std::uint64_t seed) const { return is_secret() ? secret() : reproducible(seed); }

 private:
  NoiseOrigin() = default;
  std::optional<std::uint64_t> seed_;
};

// One address's draws; fresh ones every time where they are secret. Not thread-safe: one per thread.
class NoiseStream {
 public:
  NoiseStream(const NoiseOrigin& origin, Purpose purpose, std::uint32_t round = 0, std::uint32_t user = 0) {
    if (const auto seed = origin.seed())
      seeded_.emplace(*seed, purpose, round, user);
    else
      secure_.emplace();
  }
  NoiseStream(const NoiseStream&) = delete;
  NoiseStream& operator=(const NoiseStream&) = delete;

  // Valid as long as this.
  DeviceRandom random() { return seeded_ ? DeviceRandom::simulated(*seeded_) : DeviceRandom(*secure_); }

 private:
  std::optional<SeededRandom> seeded_;
  std::optional<SecureRandom> secure_;
};

}  // namespace sotto::privacy
