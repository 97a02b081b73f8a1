#include "bindings/column.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "bindings/errors.h"

namespace sotto::python {

namespace {

// Where element `place` of the array, counted row after row, lies from its beginning.
std::int64_t offset_of(const GivenArray& given, std::size_t place) {
  std::int64_t offset = 0;
  for (std::size_t d = given.ndim(); d-- > 0; place /= given.shape(d))
    offset += static_cast<std::int64_t>(place % given.shape(d)) * given.stride(d);
  return offset;
}

bool lies_row_after_row(const GivenArray& given) {
  std::int64_t expected = 1;
  for (std::size_t d = given.ndim(); d-- > 0; expected *= static_cast<std::int64_t>(given.shape(d)))
    if (given.shape(d) != 1 && given.stride(d) != expected) return false;
  return true;
}

template <class To, class From>
bool fits(From value, NaN nan) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    // 2^digits is one above the largest, and a float without rounding.
    return value == std::trunc(value) && value >= 0 &&
           value < std::ldexp(From{1}, std::numeric_limits<To>::digits);
  } else if constexpr (std::is_integral_v<From>) {
    return true;
  } else {
    if (std::isnan(value)) return nan == NaN::kept;
    return std::isinf(value) || std::isfinite(static_cast<To>(value));
  }
}

template <class To, class From>
[[noreturn]] void refuse(const GivenArray& given, const char* name, std::size_t place, From value) {
  const std::string where = given.ndim() == 1
                                ? std::to_string(place)
                                : fmt::format("{}, {}", place / given.shape(1), place % given.shape(1));
  if constexpr (std::is_integral_v<To>)
    throw InputError(fmt::format("{}[{}] is {}: must be a whole number from 0 to {}", name, where, value,
                                 std::numeric_limits<To>::max()));
  throw InputError(fmt::format("{}[{}] is {}: must be a number of size {:.3g} at most", name, where, value,
                               static_cast<double>(std::numeric_limits<To>::max())));
}

// From one type of number to another, each value read once.
template <class To, class From>
std::vector<To> converted(const GivenArray& given, const char* name, NaN nan) {
  std::vector<To> made(given.size());
  const auto* begin = static_cast<const From*>(given.data());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const From value = begin[offset_of(given, i)];
    if (!fits<To>(value, nan)) refuse<To>(given, name, i, value);
    made[i] = static_cast<To>(value);
  }
  return made;
}

std::string name_of(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const char* kind = type.code == static_cast<std::uint8_t>(Code::Complex)  ? "complex"
                     : type.code == static_cast<std::uint8_t>(Code::Float)  ? "float"
                     : type.code == static_cast<std::uint8_t>(Code::Bfloat) ? "bfloat"
                                                                            : "unknown";
  return fmt::format("{}{}", kind, static_cast<int>(type.bits));
}

template <class To>
std::vector<To> converted_from_any(const GivenArray& given, const char* name, NaN nan) {
  const auto type = given.dtype();
  // NumPy's truth values are bytes of 0 and 1.
  if (type == nb::dtype<bool>()) return converted<To, std::uint8_t>(given, name, nan);
  if (type == nb::dtype<float>()) return converted<To, float>(given, name, nan);
  if (type == nb::dtype<double>()) return converted<To, double>(given, name, nan);
  if (type == nb::dtype<std::int8_t>()) return converted<To, std::int8_t>(given, name, nan);
  if (type == nb::dtype<std::int16_t>()) return converted<To, std::int16_t>(given, name, nan);
  if (type == nb::dtype<std::int32_t>()) return converted<To, std::int32_t>(given, name, nan);
  if (type == nb::dtype<std::int64_t>()) return converted<To, std::int64_t>(given, name, nan);
  if (type == nb::dtype<std::uint8_t>()) return converted<To, std::uint8_t>(given, name, nan);
  if (type == nb::dtype<std::uint16_t>()) return converted<To, std::uint16_t>(given, name, nan);
  if (type == nb::dtype<std::uint32_t>()) return converted<To, std::uint32_t>(given, name, nan);
  if (type == nb::dtype<std::uint64_t>()) return converted<To, std::uint64_t>(given, name, nan);
  throw InputError(
      fmt::format("{} holds {}: must be whole numbers, or floats of 32 or 64 bits", name, name_of(type)));
}

}  // namespace

template <class T>
Column<T>::Column(GivenArray given, const char* name, std::size_t dimensions, NaN nan, Memory memory)
    : given_(std::move(given)) {
  if (given_.ndim() != dimensions)
    throw InputError(fmt::format("{} has {} dimensions: must have {}", name, given_.ndim(), dimensions));
  const bool as_is = given_.dtype() == nb::dtype<T>() && lies_row_after_row(given_);
  if (!as_is) {
    copied_ = converted_from_any<T>(given_, name, nan);
    values_ = copied_;
    return;
  }
  values_ = {static_cast<const T*>(given_.data()), given_.size()};
  if (memory == Memory::copied) {
    copied_.assign(values_.begin(), values_.end());
    values_ = copied_;
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!fits<T>(values_[i], nan)) refuse<T>(given_, name, i, values_[i]);
  }
}

template class Column<float>;
template class Column<double>;
template class Column<std::uint8_t>;
template class Column<std::uint32_t>;
template class Column<std::uint64_t>;

}  // namespace sotto::python
