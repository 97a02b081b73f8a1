#include "publish/rows.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thread_pool.h"

namespace sotto::publish {

double dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double cosine(std::span<const float> a, std::span<const float> b) {
  const double lengths = std::sqrt(dot(a, a) * dot(b, b));
  return lengths > 0 ? dot(a, b) / lengths : 0;
}

void normalise(std::span<float> row) {
  const double length = std::sqrt(dot(row, row));
  if (!(length > 0)) return;
  for (float& value : row) value = static_cast<float>(value / length);
}

void normalise_rows(Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) normalise(rows[i]);
}

std::vector<float> mean_row(const Rows& rows) {
  std::vector<double> sum(rows.width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.width; ++j) sum[j] += rows[i][j];
  }
  std::vector<float> mean(rows.width);
  const auto count = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  for (std::size_t j = 0; j < rows.width; ++j) mean[j] = static_cast<float>(sum[j] / count);
  return mean;
}

Rows products(const Rows& a, const Rows& b) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto index = [](std::size_t n) { return static_cast<Eigen::Index>(n); };
  Rows result(a.size(), b.size());
  const Eigen::Map<const Matrix> right(b.values.data(), index(b.size()), index(b.width));
  parallel_for(a.size(), 128, [&](std::size_t begin, std::size_t end) {
    const Eigen::Map<const Matrix> left(a.values.data() + begin * a.width, index(end - begin),
                                        index(a.width));
    Eigen::Map<Matrix>(result.values.data() + begin * b.size(), index(end - begin), index(b.size()))
        .noalias() = left * right.transpose();
  });
  return result;
}

Rows repeated(std::span<const float> row, std::size_t count) {
  Rows rows(count, row.size());
  for (std::size_t i = 0; i < count; ++i) std::copy(row.begin(), row.end(), rows[i].begin());
  return rows;
}

}  // namespace sotto::publish
