#include "publish/ranking_space.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "publish/rows.h"

namespace sotto::publish {

namespace {

// Below this share of the largest variance a direction is rounding error of the item vectors.
constexpr double negligible = 1e-9;

}  // namespace

Result<RankingSpace> RankingSpace::of_items(const Rows& items) {
  if (items.size() < 2) return bad_input("a ranking needs at least two items; there are {}", items.size());
  const auto d = static_cast<Eigen::Index>(items.width);
  const std::vector<float> mean = mean_row(items);
  Rows centred = items;
  for (std::size_t i = 0; i < centred.size(); ++i) {
    for (std::size_t j = 0; j < centred.width; ++j) centred[i][j] -= mean[j];
  }
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> matrix(
      centred.values.data(), static_cast<Eigen::Index>(centred.size()), d);
  const Eigen::MatrixXd wide = matrix.cast<double>();
  const Eigen::MatrixXd covariance = wide.transpose() * wide / static_cast<double>(items.size());
  if (!covariance.allFinite()) return bad_input("item vectors hold numbers that are not finite");
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  const double largest = solver.eigenvalues()[d - 1];
  if (!(largest > 0)) return bad_input("all item vectors are equal: there is nothing to rank");

  Rows to_space, to_items;
  to_space.width = to_items.width = items.width;
  for (Eigen::Index e = d - 1; e >= 0; --e) {  // ascending order: the last is the largest
    const double variance = solver.eigenvalues()[e];
    if (variance <= negligible * largest) break;
    for (Eigen::Index j = 0; j < d; ++j) {
      const double entry = solver.eigenvectors()(j, e);
      to_space.values.push_back(static_cast<float>(entry * std::sqrt(variance)));
      to_items.values.push_back(static_cast<float>(entry / std::sqrt(variance)));
    }
  }
  return RankingSpace(products(centred, to_items), std::move(to_space));
}

Rows RankingSpace::readers(const Rows& user_vectors) const {
  Rows readers = products(user_vectors, to_space_);
  normalise_rows(readers);
  return readers;
}

Rows RankingSpace::comparable(Rows user_vectors) const {
  const Rows spread = products(user_vectors, to_space_);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const double length = std::sqrt(dot(spread[i], spread[i]));
    for (float& value : user_vectors[i])
      value = length > 0 ? static_cast<float>(value / length) : 0.0F;  // who ranks nothing counts for nothing
  }
  return user_vectors;
}

}  // namespace sotto::publish
