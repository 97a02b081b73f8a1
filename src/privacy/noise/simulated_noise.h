#pragma once
// Floating-point noise for simulation only: fast, seeded, reproducible. It takes a SeededRandom and nothing
// else, while device mechanisms take a DeviceRandom and return grid vectors, so neither can stand in for the
// other.
//
// A simulated round needs the sum of its users' noise, not each user's: the closed forms below have exactly
// the law of that sum at the cost of one draw per coordinate. Values have a resolution of 2^-20 of the scale.
// Borrows the generator. Not thread-safe: one per thread.

#include <cstdint>
#include <span>

#include "base/random.h"
#include "base/result.h"

namespace sotto::privacy {

class SimulatedNoise {
 public:
  explicit SimulatedNoise(SeededRandom& random) : random_(random) {}

  // Adds to every value the sum of `users` independent draws.
  Status add_gaussian(std::span<float> values, double sigma, std::uint64_t users = 1);
  // A sum of n Laplace(b) is b·(Gamma(n) - Gamma(n)).
  Status add_laplace(std::span<float> values, double scale, std::uint64_t users = 1);
  // Gamma(shape, 1), shape >= 1 (Marsaglia, Tsang 2000).
  double gamma(double shape);

 private:
  SeededRandom& random_;
};

}  // namespace sotto::privacy
