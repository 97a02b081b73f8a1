#include "secagg/shared/mask_kernels.h"

#include "base/isa.h"

namespace sotto {

namespace {

template <class Word>
SOTTO_INLINE void subtract(Word* __restrict words, const Word* __restrict stream, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<Word>(words[i] - stream[i]);
}

}  // namespace

SOTTO_MULTIVERSION void subtract_words(std::uint8_t* words, const std::uint8_t* stream, std::size_t count) {
  subtract(words, stream, count);
}
SOTTO_MULTIVERSION void subtract_words(std::uint16_t* words, const std::uint16_t* stream, std::size_t count) {
  subtract(words, stream, count);
}
SOTTO_MULTIVERSION void subtract_words(std::uint32_t* words, const std::uint32_t* stream, std::size_t count) {
  subtract(words, stream, count);
}
SOTTO_MULTIVERSION void subtract_words(std::uint64_t* words, const std::uint64_t* stream, std::size_t count) {
  subtract(words, stream, count);
}

}  // namespace sotto
