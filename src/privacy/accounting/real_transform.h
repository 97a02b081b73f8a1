#pragma once
// Discrete Fourier transforms of 2^k real numbers, k ≥ 2, three to four times as fast as Eigen's, which the
// composition of privacy losses waits for. Not thread-safe: `of` gives every thread its own.

#include <complex>
#include <span>
#include <vector>

#include "privacy/accounting/transform_kernels.h"

namespace sotto::privacy {

class RealTransform {
 public:
  explicit RealTransform(std::size_t points);
  // The calling thread's, kept for the next call with as many points: at most 2^18, which is 12 MB.
  static RealTransform& of(std::size_t points);
  static constexpr std::size_t most_kept = std::size_t{1} << 18;

  std::size_t points() const { return 2 * half_; }
  // Σ_j values[j]·e^{−2πijk/n} for k = 0 … n/2.
  void forward(std::span<const double> values, std::vector<std::complex<double>>& spectrum);
  // The values that have this spectrum.
  void inverse(std::span<const std::complex<double>> spectrum, std::vector<double>& values);

 private:
  struct Numbers {
    std::vector<double> real, imaginary;
    explicit Numbers(std::size_t size) : real(size), imaginary(size) {}
    SplitNumbers parts() { return {real.data(), imaginary.data()}; }
    SplitNumbers swapped() { return {imaginary.data(), real.data()}; }
  };
  // Of the n/2 complex numbers in `from`; says which of the two holds the answer.
  SplitNumbers transform(SplitNumbers from, SplitNumbers other);

  std::size_t half_;
  Numbers circle_;  // e^{−2πik/(n/2)}, k < n/2
  Numbers turns_;   // e^{−2πik/n}, k < n/2
  Numbers work_, other_;
};

}  // namespace sotto::privacy
