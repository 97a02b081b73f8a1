#pragma once
// One of n candidates, with probability proportional to exp(ε·score/(2Δ)) (McSherry, Talwar 2007).
//
// Scores are rounded to 2^-30 of the sensitivity Δ, which is charged, and ε to a multiple of 2^-20 below.
// Then a uniform candidate is proposed and kept with probability exp(-ε(best − score)/(2Δ)), a rational
// exponent decided exactly by coin flips: pure ε-DP without floating-point caveats. Expected time grows with
// n/Σ exp(...), at most n.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <span>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"

namespace sotto {

class ExponentialMechanism {
 public:
  struct Settings {
    double epsilon = 0;
    double sensitivity = 0;  // how far one neighbour can move any one score
    Adjacency adjacency = Adjacency::replace_one;
    Unit unit = Unit::user;
  };
  static Result<ExponentialMechanism> create(const Settings& settings);

  Result<std::size_t> choose(std::span<const double> scores, DeviceRandom random) const;
  PrivacyEvent event() const;
  // The same release as ε²/8-zCDP (Cesar, Rogers 2021): tighter when many small ones are composed.
  PrivacyEvent concentrated_event() const;

 private:
  explicit ExponentialMechanism(const Settings& settings) : settings_(settings) {}
  Settings settings_;
};

}  // namespace sotto
