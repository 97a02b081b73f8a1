#include "device/pack/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sotto::device {

namespace {

constexpr float largest_half = 65504.0F;
constexpr float smallest_half = 0x1p-24F;

std::size_t bytes_of(NumberForm form) {
  switch (form) {
    case NumberForm::f32:
      return 4;
    case NumberForm::f16:
      return 2;
    case NumberForm::i8:
      return 1;
  }
  return 0;
}

// Product of the shape, or nothing when it does not fit 40 bits: no pack is that large.
Result<std::uint64_t> count_of(const PackTensor& tensor) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : tensor.shape) {
    count *= extent;
    if (count >> 40U != 0) return bad_input("tensor \"{}\" is too large", tensor.name);
  }
  return tensor.shape.empty() ? 0 : count;
}

float load_float(const std::uint8_t* bytes) {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
  return std::bit_cast<float>(word);
}

void append(std::vector<std::uint8_t>& bytes, std::uint32_t word, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
}

}  // namespace

std::uint16_t half_from_float(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = word >> 16U & 0x8000U;
  const std::uint32_t magnitude = word & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);   // NaN
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // rounds to 2^16 or more
  if (magnitude < 0x38800000U) {  // below 2^-14: a whole number of 2^-24
    const float steps = std::nearbyint(std::bit_cast<float>(magnitude) / smallest_half);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(steps));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13U & 1U);
  return static_cast<std::uint16_t>(sign | (rounded - 0x38000000U) >> 13U);
}

float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
  const std::uint32_t exponent = half >> 10U & 0x1fU;
  const std::uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * smallest_half;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 0x1fU ? 0xffU : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

std::size_t PackTensor::columns() const {
  std::size_t count = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) count *= shape[i];
  return count;
}

void PackTensor::floats_of_row(std::size_t row, std::span<float> out) const {
  const std::size_t width = columns();
  const std::uint8_t* bytes = data.data() + row * width * bytes_of(form);
  for (std::size_t i = 0; i < width; ++i) {
    switch (form) {
      case NumberForm::f32:
        out[i] = load_float(bytes + 4 * i);
        break;
      case NumberForm::f16:
        out[i] = float_from_half(static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8U));
        break;
      case NumberForm::i8:
        out[i] = scales[row] * static_cast<float>(static_cast<std::int8_t>(bytes[i]));
        break;
    }
  }
}

std::vector<float> PackTensor::floats() const {
  const std::size_t width = columns();
  std::vector<float> all(rows() * width);
  for (std::size_t row = 0; row < rows(); ++row) {
    floats_of_row(row, std::span(all).subspan(row * width, width));
  }
  return all;
}

Result<PackTensor> PackTensor::from_floats(std::string name, std::vector<std::uint32_t> shape,
                                           std::span<const float> values, NumberForm form) {
  PackTensor tensor{std::move(name), std::move(shape), form, {}, {}};
  SOTTO_TRY(const std::uint64_t count, count_of(tensor));
  if (count != values.size()) {
    return bad_input("tensor \"{}\" has {} numbers, its shape needs {}", tensor.name, values.size(), count);
  }
  const float limit = form == NumberForm::f16 ? largest_half : std::numeric_limits<float>::max();
  for (const float value : values) {
    if (!(std::fabs(value) <= limit)) {
      return bad_input("tensor \"{}\" holds {}, which does not fit its form", tensor.name, value);
    }
  }
  tensor.data.reserve(values.size() * bytes_of(form));
  if (form == NumberForm::i8) {
    const std::size_t width = tensor.columns();
    for (std::size_t row = 0; row < tensor.rows(); ++row) {
      const auto numbers = values.subspan(row * width, width);
      float largest = 0;
      for (const float value : numbers) largest = std::max(largest, std::fabs(value));
      const float scale = largest / 127;
      tensor.scales.push_back(scale);
      for (const float value : numbers) {
        const float steps = scale > 0 ? std::nearbyint(value / scale) : 0;
        tensor.data.push_back(
            static_cast<std::uint8_t>(static_cast<std::int8_t>(std::clamp(steps, -127.0F, 127.0F))));
      }
    }
  } else {
    for (const float value : values) {
      if (form == NumberForm::f16) {
        append(tensor.data, half_from_float(value), 2);
      } else {
        append(tensor.data, std::bit_cast<std::uint32_t>(value), 4);
      }
    }
  }
  return tensor;
}

Status check(const PackTensor& tensor) {
  if (tensor.form > NumberForm::i8)
    return bad_input("tensor \"{}\" has an unknown form of numbers", tensor.name);
  if (tensor.shape.empty() || tensor.shape.size() > 3) {
    return bad_input("tensor \"{}\" has {} dimensions, not 1 to 3", tensor.name, tensor.shape.size());
  }
  SOTTO_TRY(const std::uint64_t count, count_of(tensor));
  if (tensor.data.size() != count * bytes_of(tensor.form)) {
    return bad_input("tensor \"{}\" has {} bytes, its shape needs {}", tensor.name, tensor.data.size(),
                     count * bytes_of(tensor.form));
  }
  // Rows without numbers would make the number of rows free of any cost.
  if (tensor.columns() == 0) return bad_input("tensor \"{}\" has rows without numbers", tensor.name);
  const std::size_t scales = tensor.form == NumberForm::i8 ? tensor.rows() : 0;
  if (tensor.scales.size() != scales) {
    return bad_input("tensor \"{}\" has {} scales instead of {}", tensor.name, tensor.scales.size(), scales);
  }
  for (const float scale : tensor.scales) {
    // 127 times the scale must be finite too.
    if (!(scale >= 0 && scale <= std::numeric_limits<float>::max() / 128)) {
      return bad_input("tensor \"{}\" has the scale {}", tensor.name, scale);
    }
  }
  if (tensor.form == NumberForm::i8) return {};
  std::vector<float> row(tensor.columns());
  for (std::size_t i = 0; i < tensor.rows(); ++i) {
    tensor.floats_of_row(i, row);
    if (!std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); })) {
      return bad_input("tensor \"{}\" holds numbers that are not finite", tensor.name);
    }
  }
  return {};
}

}  // namespace sotto::device
