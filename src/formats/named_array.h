#pragma once
// A block of numbers with a name and a shape, row-major: what every exported format is made of.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sotto::formats {

struct NamedArray {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<float> values;  // as many as the shape says
};

inline std::uint64_t elements_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product *= extent;
  return product;
}

}  // namespace sotto::formats
