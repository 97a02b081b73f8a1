#include "secagg/vectors/modular_kernels.h"

#include "base/isa.h"

namespace sotto::secagg {

namespace {

template <class Word>
SOTTO_INLINE void add_all(Word* sum, const Word* entries, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<Word>(sum[i] + entries[i]);
}

template <class Word>
SOTTO_INLINE void subtract_all(Word* sum, const Word* entries, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<Word>(sum[i] - entries[i]);
}

}  // namespace

SOTTO_MULTIVERSION void add_words(std::uint8_t* sum, const std::uint8_t* entries, std::size_t count) {
  add_all(sum, entries, count);
}
SOTTO_MULTIVERSION void add_words(std::uint16_t* sum, const std::uint16_t* entries, std::size_t count) {
  add_all(sum, entries, count);
}
SOTTO_MULTIVERSION void add_words(std::uint32_t* sum, const std::uint32_t* entries, std::size_t count) {
  add_all(sum, entries, count);
}
SOTTO_MULTIVERSION void add_words(std::uint64_t* sum, const std::uint64_t* entries, std::size_t count) {
  add_all(sum, entries, count);
}

SOTTO_MULTIVERSION void subtract_words(std::uint8_t* sum, const std::uint8_t* entries, std::size_t count) {
  subtract_all(sum, entries, count);
}
SOTTO_MULTIVERSION void subtract_words(std::uint16_t* sum, const std::uint16_t* entries, std::size_t count) {
  subtract_all(sum, entries, count);
}
SOTTO_MULTIVERSION void subtract_words(std::uint32_t* sum, const std::uint32_t* entries, std::size_t count) {
  subtract_all(sum, entries, count);
}
SOTTO_MULTIVERSION void subtract_words(std::uint64_t* sum, const std::uint64_t* entries, std::size_t count) {
  subtract_all(sum, entries, count);
}

}  // namespace sotto::secagg
