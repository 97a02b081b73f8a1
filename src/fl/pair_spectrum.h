#pragma once
// What the server reads out of the noisy sum of who likes what together (local/item_sums.h): item vectors.
//
// Letters: m items.

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::fl {

struct SpectrumSettings {
  std::int64_t vectors = 64;  // numbers per item, at most
  double ridge = 0.01;        // in units of the mean: eigenvalues are at most 1
};

// Two steps from the noisy matrix M = G + E, E with deviation σ off the diagonal:
//
// 1. What is known beforehand (fl/item_kernel.h) holds the noise back. Read G as drawn with covariance
//    τ²·K⊗K: in the eigenvectors of K, with eigenvalues λ, its entries are independent, and the best guess of
//    each is the noisy one times λ_i λ_j τ² / (λ_i λ_j τ² + σ²). τ² is what M has beyond the noise: (‖M‖² −
//    m(m + 1)σ²) / (Σλ)². If that is within three deviations of nothing there are no vectors.
// 2. Of the guess, rows of √g times the eigenvectors with the largest eigenvalues w > 0, g = w / (w + ridge).
//
// Without noise the first step changes nothing.
//
// mean: [m(m + 1)/2] as local::pair_shares has it, coordinate_noise: standard deviation of each of its
// coordinates; kernel: K [m, m]. Returns [m, settings.vectors], row by row, zeros where there are fewer.
std::vector<float> vectors_from_pairs(std::span<const float> mean, std::size_t items, double coordinate_noise,
                                      const SpectrumSettings& settings, std::span<const double> kernel);

}  // namespace sotto::fl
