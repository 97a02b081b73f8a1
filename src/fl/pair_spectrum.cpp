#include "fl/pair_spectrum.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/progress.h"

namespace sotto::fl {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Spectrum = Eigen::SelfAdjointEigenSolver<MatrixXd>;

constexpr double deviations_of_something = 3;

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

// The best guess of the matrix without noise; zeros when it may be noise alone.
MatrixXd guess_of(const MatrixXd& noisy, double sigma, std::span<const double> kernel) {
  const Index m = noisy.rows();
  const auto size = static_cast<double>(m);
  const double beyond = noisy.squaredNorm() - size * (size + 1) * sigma * sigma;
  // The squares of m²/2 normal entries, each there twice: deviation 2mσ².
  if (beyond <= deviations_of_something * 2 * size * sigma * sigma) return MatrixXd::Zero(m, m);
  const Spectrum known(Eigen::Map<const MatrixXd>(kernel.data(), m, m));
  const Eigen::VectorXd lambda = known.eigenvalues().cwiseMax(0);
  const MatrixXd prior = lambda * lambda.transpose() * (beyond / (lambda.sum() * lambda.sum()));
  const MatrixXd turned = known.eigenvectors().transpose() * noisy * known.eigenvectors();
  const MatrixXd held = (turned.array() * prior.array() / (prior.array() + sigma * sigma)).matrix();
  return known.eigenvectors() * held * known.eigenvectors().transpose();
}

}  // namespace

std::vector<float> vectors_from_pairs(std::span<const float> mean, std::size_t items, double coordinate_noise,
                                      const SpectrumSettings& settings, std::span<const double> kernel) {
  const auto size = static_cast<Index>(items), columns = static_cast<Index>(settings.vectors);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
      Eigen::MatrixXf::Zero(size, columns);
  const double sigma = coordinate_noise / std::numbers::sqrt2;
  Progress progress("spectrum of the pairs", 2, "steps");
  const MatrixXd pairs = symmetric(mean, size), guess = sigma > 0 ? guess_of(pairs, sigma, kernel) : pairs;
  progress.advance();
  const Spectrum spectrum(guess);
  progress.advance();
  for (Index k = 0; k < std::min(columns, size); ++k) {
    const double w = spectrum.eigenvalues()(size - 1 - k);  // they come in ascending order
    if (!(w > 0)) break;
    rows.col(k) =
        (std::sqrt(w / (w + settings.ridge)) * spectrum.eigenvectors().col(size - 1 - k)).cast<float>();
  }
  return {rows.data(), rows.data() + rows.size()};
}

}  // namespace sotto::fl
