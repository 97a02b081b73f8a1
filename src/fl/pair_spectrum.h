#pragma once
// What the server reads out of the noisy sum of who likes what together (fl/pair_spectrum.h): item vectors.
//
// Letters: m items, F columns of features.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace sotto::fl {

// What a device says about its items in two private sums. With x the 0/1 vector of a device's items:
//
//   counts: x / ‖x‖                                               one number per item
//   pairs:  upper triangle of y yᵀ, y = x on the chosen items, ‖y‖ = 1; off the diagonal times √2
//
// Both vectors have norm 1 (0 for a device without such items) and no negative entry; the √2 makes the norm
// of the triangle that of the whole symmetric matrix. Pure functions, safe from several threads.

// Coordinates of the triangle for so many items.
std::uint64_t pair_count(std::uint64_t items);

// own: distinct items of a device. Length: `items`.
std::vector<float> item_shares(std::span<const data::ItemId> own, std::size_t items);

// The items with the largest counts, largest first; equal ones by number.
std::vector<data::ItemId> most_counted(std::span<const float> counts, std::size_t chosen);

// own: distinct positions (below `items`) of a device's items among the chosen ones, ascending.
// Row by row from the diagonal on: (0,0), (0,1), ..., (1,1), (1,2), ...; length: pair_count(items).
std::vector<float> pair_shares(std::span<const std::uint32_t> own, std::size_t items);

struct SpectrumSettings {
  std::int64_t vectors = 64;  // numbers per item, at most
  double ridge = 0.01;        // in units of the mean: eigenvalues are at most 1
};

// What the catalogue says about the m items: [m, F], row by row.
struct FeatureColumns {
  std::vector<float> values;
  std::size_t width = 0;
};

// Item vectors: rows of √g times the eigenvectors whose eigenvalue w stands out of the noise, with
//   t = 2·σ·√m, the spectral norm of symmetric noise with deviation σ off the diagonal;
//   kept: w > 1.05·t;   s = √(w² − t²);   g = s / (s + ridge).
// s is the eigenvalue without noise times the squared cosine between the noisy eigenvector and the true one.
//
// Then the same within the columns of `features`, what was kept taken out: in a space of d dimensions the
// noise reaches 2·σ·√d only, so that what items of one genre have in common stands out where single items do
// not.
//
// mean: [m(m + 1)/2] as pair_shares has it, coordinate_noise: standard deviation of each of its coordinates.
// Returns [m, settings.vectors], row by row, zeros where fewer stand out.
std::vector<float> vectors_from_pairs(std::span<const float> mean, std::size_t items, double coordinate_noise,
                                      const SpectrumSettings& settings, const FeatureColumns& features = {});

}  // namespace sotto::fl
