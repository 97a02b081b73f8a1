#pragma once
// Arrays that are handed in: copied once and checked there, because another thread of Python may write to
// the caller's memory while the work is done without the interpreter's lock.
//
// A conversion changes no value beyond rounding. NumPy's own would make 255 of −1, 1 of 1.7 and infinity of
// 1e300; here the first such value is named with the rule that it breaks.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::python {

namespace nb = nanobind;

// Any array of the processor's, of whatever type, shape and order.
using GivenArray = nb::ndarray<nb::ro, nb::device::cpu>;

enum class NaN { refused, kept };
// `shared`: an array of the right type and order is read where it lies. For what is large and may hold
// anything at any moment: every value is read once, or no answer of a second reading can lead out of bounds.
enum class Memory { copied, shared };

// The numbers of an array of one or two dimensions, row after row. `name` is what messages call it.
template <class T>
class Column {
 public:
  Column(GivenArray given, const char* name, std::size_t dimensions = 1, NaN nan = NaN::refused,
         Memory memory = Memory::copied);

  std::size_t size() const { return values_.size(); }
  std::size_t shape(std::size_t dimension) const { return given_.shape(dimension); }
  std::span<const T> values() const { return values_; }

 private:
  GivenArray given_;       // keeps the memory
  std::vector<T> copied_;  // empty where that is shared
  std::span<const T> values_;
};

extern template class Column<float>;
extern template class Column<double>;
extern template class Column<std::uint8_t>;
extern template class Column<std::uint32_t>;
extern template class Column<std::uint64_t>;

}  // namespace sotto::python
