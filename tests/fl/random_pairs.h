#pragma once
// Users with random items, what they send about pairs, and the matrix that this stands for.

#include <cstdint>
#include <vector>

#include "base/distributions.h"
#include "base/random.h"
#include "local/item_sums.h"
#include "model/tensor.h"

namespace sotto::fl::testing {

// Distinct positions of each user, ascending; nobody has none.
inline std::vector<std::vector<std::uint32_t>> random_users(std::size_t users, std::uint32_t items) {
  SeededRandom random(5, Purpose::test);
  std::vector<std::vector<std::uint32_t>> all(users);
  for (std::size_t u = 0; u < users; ++u)
    for (std::uint32_t i = 0; i < items; ++i)
      if (i == u % items || uniform01(random) < (i % 2 == u % 2 ? 0.5 : 0.1)) all[u].push_back(i);
  return all;
}

// A user's items as the vector of length 1 that its pairs are made of.
inline std::vector<float> taste_of(const std::vector<std::uint32_t>& own, std::size_t items) {
  std::vector<local::OwnItem> liked;
  for (const std::uint32_t item : own) liked.push_back({item, 1});
  std::vector<local::ItemRow> all(items);
  for (std::size_t i = 0; i < items; ++i) all[i] = static_cast<local::ItemRow>(i);
  return local::taste(liked, all, std::vector<float>(items, 0), 0);
}

inline std::vector<float> mean_pairs(const std::vector<std::vector<std::uint32_t>>& users,
                                     std::size_t items) {
  std::vector<float> mean(local::pair_count(items), 0);
  for (const auto& own : users) {
    const auto shares = local::pair_shares(taste_of(own, items));
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += shares[i] / static_cast<float>(users.size());
  }
  return mean;
}

// The mean of y yᵀ in the plainest way, [m, m].
inline torch::Tensor exact_matrix(const std::vector<std::vector<std::uint32_t>>& users, std::int64_t items) {
  torch::Tensor matrix = torch::zeros({items, items}, torch::kFloat64);
  for (const auto& own : users) {
    torch::Tensor y = torch::zeros({items}, torch::kFloat64);
    for (const std::uint32_t item : own) y[item] = 1;
    y /= y.norm();
    matrix += torch::outer(y, y) / static_cast<double>(users.size());
  }
  return matrix;
}

}  // namespace sotto::fl::testing
