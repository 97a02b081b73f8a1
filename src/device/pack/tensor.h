#pragma once
// A named block of numbers as a pack carries it: full floats, half floats, or bytes with one scale per row.
//
// Kept in the form it came in, so that a pack that is read and written again has the same bytes. Plain
// immutable values after creation; from_floats() and check() are the only ways to a valid one.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace sotto::device {

enum class NumberForm : std::uint8_t { f32, f16, i8 };

struct PackTensor {
  std::string name;
  std::vector<std::uint32_t> shape;
  NumberForm form = NumberForm::f32;
  std::vector<std::uint8_t> data;  // little-endian
  std::vector<float> scales;       // i8: one per row

  std::size_t rows() const { return shape.empty() ? 0 : shape.front(); }
  std::size_t columns() const;  // numbers per row
  std::vector<float> floats() const;
  void floats_of_row(std::size_t row, std::span<float> out) const;

  bool operator==(const PackTensor&) const = default;

  // Refuses values that are not finite, or too large for half floats.
  static Result<PackTensor> from_floats(std::string name, std::vector<std::uint32_t> shape,
                                        std::span<const float> values, NumberForm form);
};

// Sizes fit, numbers are finite, scales are sensible. For tensors from outside.
Status check(const PackTensor& tensor);

std::uint16_t half_from_float(float value);  // to nearest, ties to even; overflow becomes infinite
float float_from_half(std::uint16_t half);

}  // namespace sotto::device
