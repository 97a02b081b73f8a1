#pragma once
// What the server reads out of the noisy sum of who likes what together (local/item_sums.h): item vectors.
//
// Letters: m items, F columns of features.

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::fl {

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
// mean: [m(m + 1)/2] as local::pair_shares has it, coordinate_noise: standard deviation of each of its
// coordinates. Returns [m, settings.vectors], row by row, zeros where fewer stand out.
std::vector<float> vectors_from_pairs(std::span<const float> mean, std::size_t items, double coordinate_noise,
                                      const SpectrumSettings& settings, const FeatureColumns& features = {});

}  // namespace sotto::fl
