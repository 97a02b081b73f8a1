#include "privacy/mechanisms/softmax.h"

#include <algorithm>
#include <cmath>

namespace sotto::privacy {

std::vector<double> softmax(std::vector<double> scores) {
  if (scores.empty()) return scores;
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
  const bool sensible =
      std::all_of(scores.begin(), scores.end(), [](double weight) { return weight >= 0 && weight <= 1; });
  if (!sensible) std::fill(scores.begin(), scores.end(), 1.0 / static_cast<double>(scores.size()));
  return scores;
}

std::vector<double> attention_over(std::span<const float> basis, std::span<const float> user) {
  std::vector<double> scores(basis.size() / user.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < user.size(); ++j) {
      scores[i] += static_cast<double>(user[j]) * basis[i * user.size() + j];
    }
    scores[i] /= std::sqrt(static_cast<double>(user.size()));
  }
  return softmax(std::move(scores));
}

}  // namespace sotto::privacy
