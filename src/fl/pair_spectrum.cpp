#include "fl/pair_spectrum.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace sotto::fl {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Eigenvalues this much above the edge of the noise are signal.
constexpr double clearly_above = 1.05;
// What is left of the features and shorter than this share of them is rounding, no direction of its own.
constexpr double independent = 1e-6;

MatrixXd symmetric(std::span<const float> triangle, Index items) {
  MatrixXd matrix(items, items);
  const float* next = triangle.data();
  for (Index row = 0; row < items; ++row) {
    matrix(row, row) = *next++;
    for (Index column = row + 1; column < items; ++column)
      matrix(row, column) = matrix(column, row) = *next++ / std::numbers::sqrt2;
  }
  return matrix;
}

// √g times the eigenvectors that stand out of noise with deviation sigma: [size, at most `most`].
MatrixXd standing_out(const MatrixXd& matrix, double sigma, double ridge, Index most) {
  const Index size = matrix.rows();
  if (size == 0) return {};
  const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(matrix);
  const double edge = 2 * sigma * std::sqrt(static_cast<double>(size));
  MatrixXd directions(size, std::min(most, size));
  Index kept = 0;
  for (; kept < directions.cols(); ++kept) {
    const Index largest = size - 1 - kept;  // they come in ascending order
    const double w = spectrum.eigenvalues()(largest);
    if (!(w > clearly_above * edge) || w <= 0) break;
    const double s = std::sqrt(w * w - edge * edge);
    directions.col(kept) = std::sqrt(s / (s + ridge)) * spectrum.eigenvectors().col(largest);
  }
  return directions.leftCols(kept);
}

// An orthonormal basis of what is left of the features beside the directions.
MatrixXd beside(const MatrixXd& directions, const FeatureColumns& features) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const MatrixXd columns = Eigen::Map<const RowMajor>(features.values.data(), directions.rows(),
                                                      static_cast<Index>(features.width))
                               .cast<double>();
  const MatrixXd taken = directions.colwise().normalized();
  const MatrixXd rest = columns - taken * (taken.transpose() * columns);
  const Eigen::BDCSVD<MatrixXd> parts(rest, Eigen::ComputeThinU);
  const auto& lengths = parts.singularValues();
  Index rank = 0;
  while (rank < lengths.size() && lengths(rank) > independent * columns.norm()) ++rank;
  return parts.matrixU().leftCols(rank);
}

}  // namespace

std::vector<float> vectors_from_pairs(std::span<const float> mean, std::size_t items, double coordinate_noise,
                                      const SpectrumSettings& settings, const FeatureColumns& features) {
  const auto size = static_cast<Index>(items), columns = static_cast<Index>(settings.vectors);
  const MatrixXd pairs = symmetric(mean, size);
  const double sigma = coordinate_noise / std::numbers::sqrt2;
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
      Eigen::MatrixXf::Zero(size, columns);
  const MatrixXd first = standing_out(pairs, sigma, settings.ridge, columns);
  rows.leftCols(first.cols()) = first.cast<float>();
  if (features.width > 0 && first.cols() < columns) {
    const MatrixXd basis = beside(first, features);
    const MatrixXd within =
        standing_out(basis.transpose() * pairs * basis, sigma, settings.ridge, columns - first.cols());
    const MatrixXd second = basis * within;
    rows.middleCols(first.cols(), second.cols()) = second.cast<float>();
  }
  return {rows.data(), rows.data() + rows.size()};
}

}  // namespace sotto::fl
