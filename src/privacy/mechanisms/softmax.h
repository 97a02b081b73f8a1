#pragma once
// The attention of a reader over public vectors, as devices compute it, servers tune by it and experiments
// measure it.

#include <span>
#include <vector>

namespace sotto::privacy {

// exp(score) / Σ exp(score). Uniform where numbers are not finite, so that no history makes a draw fail.
std::vector<double> softmax(std::vector<double> scores);

// softmax(u·bᵀ/√d), one weight per row b of `basis`. basis: rows of user.size() numbers.
std::vector<double> attention_over(std::span<const float> basis, std::span<const float> user);

}  // namespace sotto::privacy
