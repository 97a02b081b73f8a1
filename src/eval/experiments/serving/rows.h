#pragma once
// A matrix of floats by rows: vectors of items, readers or prototypes. A plain value.

#include <cstddef>
#include <span>
#include <vector>

namespace sotto::private_serving {

struct Rows {
  std::size_t width = 0;
  std::vector<float> values;  // size() x width

  Rows() = default;
  Rows(std::size_t rows, std::size_t columns) : width(columns), values(rows * columns) {}
  std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> operator[](std::size_t row) const { return {values.data() + row * width, width}; }
  std::span<float> operator[](std::size_t row) { return {values.data() + row * width, width}; }
};

}  // namespace sotto::private_serving
