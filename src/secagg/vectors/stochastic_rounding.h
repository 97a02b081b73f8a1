#pragma once
// Real vectors to whole numbers, up or down at random so that the mean is the vector, with the norm of the
// result ENFORCED: privacy is proved for the whole numbers, and rounding can make a vector longer.
//
// For a vector of norm at most Δ (grid steps) in d coordinates, random rounding stays within
//   Δ̃² = min{ Δ² + d/4 + √(2·log(1/β))·(Δ + √d/2),  (Δ + √d)² }
// with probability at least 1 − β (Kairouz, Liu, Steinke 2021, conditional rounding); the second term always
// holds. A rounding beyond it is thrown away and drawn again. After most_tries, which a vector within Δ meets
// with probability at most β^64, the vector is rounded towards zero, which never lengthens it; should
// rounding errors make it too long even so, it becomes zero. The bound is compared in whole numbers: no
// floating-point error reaches the sensitivity.
//
// Price: throwing away moves the mean. With p <= β the chance of a draw beyond the bound, the mean of the
// accepted draws is off by at most p/(1−p)·√d grid steps in norm: the mean over both kinds is the vector, and
// no draw is further than √d from it.
//
// How many tries were needed depends on the vector: running time is not secret. Immutable, safe to share
// between threads.

#include <cstdint>
#include <functional>
#include <span>

#include "base/random.h"
#include "base/result.h"

namespace sotto::secagg {

class StochasticRounding {
 public:
  static constexpr int most_tries = 64;
  static constexpr double default_beta = 0.60653065971263342;  // e^(−1/2), as in the paper: √(2·log(1/β)) = 1

  struct Settings {
    std::uint64_t dimension = 0;    // d
    double norm = 0;                // Δ
    std::uint64_t entry_bound = 0;  // entries are limited to ± this
    double beta = default_beta;
  };
  static Result<StochasticRounding> create(const Settings& settings);

  enum class How { at_random, towards_zero, to_zero };
  // Writes the values that begin at a place of the vector; the same whenever it is asked. A vector that is
  // made piece by piece, as often as it is rounded, stays in the cache.
  using Values = std::function<void(std::size_t begin, std::span<double> values)>;
  // Refuses values longer than Δ or not finite. Every entry of `rounded` is within entry_bound, and their
  // squares sum to at most squared_bound().
  Result<How> round(std::span<const double> values, std::span<std::int32_t> rounded,
                    RandomSource& random) const;
  Result<How> round(const Values& values, std::span<std::int32_t> rounded, RandomSource& random) const;

  std::uint64_t squared_bound() const { return squared_bound_; }  // ⌊Δ̃²⌋
  double norm_bound() const;                                      // at least √squared_bound()
  double norm() const { return settings_.norm; }                  // Δ
  std::uint64_t entry_bound() const { return settings_.entry_bound; }

 private:
  StochasticRounding(const Settings& settings, std::uint64_t squared_bound)
      : settings_(settings), squared_bound_(squared_bound) {}
  // Sums of squares: of the values, as far as they were looked at (all of them the first time), and of what
  // they were rounded to, which is no longer done once it is beyond the bound.
  struct Squares {
    double values = 0;
    std::uint64_t rounded = 0;
  };
  Squares draw(const Values& values, std::span<std::int32_t> rounded, RandomSource& random, bool again) const;
  Settings settings_;
  std::uint64_t squared_bound_;
};

}  // namespace sotto::secagg
