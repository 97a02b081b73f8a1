#pragma once
// The loops behind modular_sum.h. Nothing is checked here.

#include <cstddef>
#include <cstdint>

namespace sotto::secagg {

void add_words(std::uint8_t* sum, const std::uint8_t* entries, std::size_t count);
void add_words(std::uint16_t* sum, const std::uint16_t* entries, std::size_t count);
void add_words(std::uint32_t* sum, const std::uint32_t* entries, std::size_t count);
void add_words(std::uint64_t* sum, const std::uint64_t* entries, std::size_t count);

// sum[i] -= entries[i]
void subtract_words(std::uint8_t* sum, const std::uint8_t* entries, std::size_t count);
void subtract_words(std::uint16_t* sum, const std::uint16_t* entries, std::size_t count);
void subtract_words(std::uint32_t* sum, const std::uint32_t* entries, std::size_t count);
void subtract_words(std::uint64_t* sum, const std::uint64_t* entries, std::size_t count);

}  // namespace sotto::secagg
