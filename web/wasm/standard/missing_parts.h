#pragma once
// What the standard library of Debian's emscripten (libc++ 14) lacks of C++20 and the device uses. Included
// before every file of the WebAssembly build, by the compiler's command line; leaves with that library.

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string>
#include <system_error>
#include <type_traits>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
requires(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> &&
         is_trivially_copyable_v<From>) constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

#ifndef __cpp_lib_to_chars
// Decimal notation alone, as from_chars has it: no sign but '-', no spaces, no "0x".
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* at = first;
  if (at != last && *at == '-') ++at;
  const bool is_number = at != last && ((*at >= '0' && *at <= '9') || *at == '.');
  const bool is_word = last - at >= 3 && (*at == 'i' || *at == 'n' || *at == 'I' || *at == 'N');
  if (!is_number && !is_word) return {first, errc::invalid_argument};
  if (is_number && *at == '0' && at + 1 != last && (at[1] == 'x' || at[1] == 'X')) {
    value = *first == '-' ? -0.0 : 0.0;
    return {at + 1, errc()};
  }
  const string text(first, last);
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* stop = first + (end - text.c_str());
  if (is_number && (read == HUGE_VAL || read == -HUGE_VAL)) return {stop, errc::result_out_of_range};
  value = read;
  return {stop, errc()};
}
#endif

#if _LIBCPP_VERSION < 15000
namespace ranges {
template <class A, class B>
constexpr bool equal(A&& a, B&& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
}  // namespace ranges
#endif

}  // namespace std
