#pragma once
// The ring of a secure sum: whole numbers modulo 2^b, b = 8 … 32 for updates and counts, 64 for unions.
//
// A sum is decoded as the number closest to zero, in [−2^(b−1), 2^(b−1)). choose_modulus() takes b so large
// that the contributions of all devices together cannot reach the edge, whatever they are (each entry is
// bounded on the device), and that the noise reaches it with at most the stated probability. A sum that wraps
// all the same is a wrong number, not a privacy failure: reduction modulo 2^b is done to the noisy sum, after
// the release.
//
// Immutable values.

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "privacy/mechanisms/noise_share.h"

namespace sotto::secagg {

// How far the noise of a secure sum strays: upper bounds on its tails, for headroom and thresholds.
//
// Both laws have finite exponential moments, so P(X >= h) <= exp(min over t of log E[e^{tX}] − t·h). A
// discrete Gaussian is sub-Gaussian with its parameter σ² (Canonne, Kamath, Steinke 2020), and so are sums:
// −h²/(2V). A Skellam law of variance V has log E[e^{tX}] = V·(cosh t − 1): V·(√(1 + (h/V)²) − 1) −
// h·asinh(h/V). The samplers' own distance from their laws (docs/privacy/accounting.md) is not part of the
// bounds.
//
// Plain values and pure functions.
struct NoiseSum {
  privacy::ShareKind kind = privacy::ShareKind::skellam;
  double variance = 0;  // of one coordinate; for discrete Gaussians the sum of their σ²
};

// The noise in a sum to which `devices` shares were added.
NoiseSum noise_of(const privacy::NoiseShare& share, std::uint64_t devices);

// At least log P(X >= height), for height >= 0.
double log_tail_bound(const NoiseSum& noise, double height);

// The smallest whole number h >= 0 with log_tail_bound(noise, h) <= log_probability, which is below 0.
std::int64_t height_with_tail(const NoiseSum& noise, double log_probability);

class Modulus {
 public:
  static Result<Modulus> of_bits(unsigned bits);

  unsigned bits() const { return bits_; }
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - bits_); }
  std::uint64_t wrap(std::int64_t value) const { return static_cast<std::uint64_t>(value) & mask(); }
  // The number in [smallest(), largest()] that wraps to `entry`; bits above b are ignored.
  std::int64_t centre(std::uint64_t entry) const {
    const unsigned unused = 64 - bits_;
    return static_cast<std::int64_t>(entry << unused) >> unused;
  }
  std::int64_t largest() const { return static_cast<std::int64_t>(mask() >> 1); }
  std::int64_t smallest() const { return -largest() - 1; }

  friend bool operator==(const Modulus&, const Modulus&) = default;

 private:
  explicit Modulus(unsigned bits) : bits_(bits) {}
  unsigned bits_;
};

struct ModulusSettings {
  std::uint64_t devices = 0;           // in the group
  std::uint64_t entry_bound = 0;       // largest magnitude of one device's entry, noise aside
  std::uint64_t dimension = 1;         // entries of the sum
  std::optional<NoiseSum> noise;       // of all devices together
  double log2_wrap_probability = -30;  // that any entry of one sum wraps because of the noise
};

// The smallest width of 8 … 32 bits that holds the sum.
Result<Modulus> choose_modulus(const ModulusSettings& settings);

}  // namespace sotto::secagg
