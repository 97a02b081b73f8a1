#pragma once
// words[i] -= stream[i], modulo 2 to the width of the word. Adding is in secagg/vectors/modular_kernels.h.

#include <cstddef>
#include <cstdint>

namespace sotto {

void subtract_words(std::uint8_t* words, const std::uint8_t* stream, std::size_t count);
void subtract_words(std::uint16_t* words, const std::uint16_t* stream, std::size_t count);
void subtract_words(std::uint32_t* words, const std::uint32_t* stream, std::size_t count);
void subtract_words(std::uint64_t* words, const std::uint64_t* stream, std::size_t count);

}  // namespace sotto
