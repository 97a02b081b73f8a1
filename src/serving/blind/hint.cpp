#include "serving/blind/hint.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "blind/public_matrix.h"

namespace sotto::serving {

Result<std::vector<std::uint32_t>> make_hint(const BlindDatabase& database) {
  const blind::Shape& shape = database.parameters().shape;
  SOTTO_TRY(const auto matrix, blind::public_matrix(shape));
  std::vector<blind::RingTransform> adjoints(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const blind::RingWords turned = blind::adjoint(matrix[i]);
    blind::transform(std::span<const std::uint32_t>(turned), adjoints[i]);
  }
  std::vector<std::uint32_t> hint(shape.rows * blind::ring_degree);
  parallel_for(shape.rows, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int32_t> piece;
    blind::RingTransform transformed, sum;
    blind::RingWords words;
    for (std::size_t row = begin; row < end; ++row) {
      sum.fill(0);
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        const std::size_t first = i * blind::ring_degree;
        piece.resize(std::min(blind::ring_degree, shape.columns() - first));
        for (std::size_t j = 0; j < piece.size(); ++j) piece[j] = database.entry(row, first + j);
        blind::transform(std::span<const std::int32_t>(piece), transformed);
        blind::add_product(sum, transformed, adjoints[i]);
      }
      blind::transform_back(sum, words);
      std::copy(words.begin(), words.end(),
                hint.begin() + static_cast<std::ptrdiff_t>(row * blind::ring_degree));
    }
  });
  return hint;
}

}  // namespace sotto::serving
