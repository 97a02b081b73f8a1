#pragma once
// A matrix of floats by rows: vectors of items, readers or prototypes. A plain value, and sums over it.

#include <cstddef>
#include <span>
#include <vector>

namespace sotto::publish {

struct Rows {
  std::size_t width = 0;
  std::vector<float> values;  // size() x width

  Rows() = default;
  Rows(std::size_t rows, std::size_t columns) : width(columns), values(rows * columns) {}
  std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> operator[](std::size_t row) const { return {values.data() + row * width, width}; }
  std::span<float> operator[](std::size_t row) { return {values.data() + row * width, width}; }
};

double dot(std::span<const float> a, std::span<const float> b);
// Cosine; 0 when one of them is zero.
double cosine(std::span<const float> a, std::span<const float> b);
// Length 1; a zero row stays zero.
void normalise(std::span<float> row);
void normalise_rows(Rows& rows);
std::vector<float> mean_row(const Rows& rows);
// [a.size(), b.size()]: every row of a with every row of b, on all threads.
Rows products(const Rows& a, const Rows& b);
// The row `count` times.
Rows repeated(std::span<const float> row, std::size_t count);

}  // namespace sotto::publish
