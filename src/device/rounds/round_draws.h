#pragma once
// Where the draws of a round come from: secret ones, unless a simulation addresses them by round.

#include <optional>

#include "base/random.h"
#include "privacy/noise/device_random.h"

namespace sotto::device {

// By which `round` an evaluation's draws are addressed: above all rounds of training.
constexpr std::uint64_t evaluation_draws(std::uint64_t version) { return (std::uint64_t{1} << 31) + version; }

class RoundDraws {
 public:
  virtual ~RoundDraws() = default;
  virtual privacy::DeviceRandom noise(std::uint64_t round) = 0;  // and rounding
  virtual RandomSource& examples(std::uint64_t round) = 0;       // of negatives and dropout
  virtual privacy::DeviceRandom keys() = 0;                      // of the secure sum
};

// Draws of the secure generator; what a device uses unless it is simulated.
class SecretDraws final : public RoundDraws {
 public:
  privacy::DeviceRandom noise(std::uint64_t) override { return privacy::DeviceRandom(noise_); }
  RandomSource& examples(std::uint64_t) override { return examples_; }
  privacy::DeviceRandom keys() override { return privacy::DeviceRandom(keys_); }

 private:
  SecureRandom noise_, examples_, keys_;
};

// Noise and examples as a simulation of the same seed draws them for this user, so that both give the same
// bits; keys stay secret. Protects nobody.
class SimulatedDraws final : public RoundDraws {
 public:
  SimulatedDraws(std::uint64_t seed, std::uint32_t user) : seed_(seed), user_(user) {}
  privacy::DeviceRandom noise(std::uint64_t round) override {
    noise_.emplace(seed_, Purpose::noise, static_cast<std::uint32_t>(round - 1), user_);
    return privacy::DeviceRandom::simulated(*noise_);
  }
  RandomSource& examples(std::uint64_t round) override {
    return examples_.emplace(seed_, Purpose::negative_sampling, static_cast<std::uint32_t>(round - 1), user_);
  }
  privacy::DeviceRandom keys() override { return privacy::DeviceRandom(keys_); }

 private:
  std::uint64_t seed_;
  std::uint32_t user_;
  std::optional<SeededRandom> noise_, examples_;
  SecureRandom keys_;
};

}  // namespace sotto::device
