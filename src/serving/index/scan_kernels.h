#pragma once
// Vector loops over blocks of items: quick scores in single precision, good enough to rule items out.

#include <cstddef>
#include <cstdint>

namespace sotto::serving {

constexpr std::size_t block_rows = 128;
constexpr std::size_t group_blocks = 64;

// One coefficient of a query that is not zero.
struct Term {
  std::uint32_t dimension;
  float coefficient;
};

// quick[j] = sum over the terms of coefficient * columns[dimension * block_rows + j]. Returns the largest.
float quick_scores(const Term* terms, std::size_t count, const float* columns, float* quick);

// quick[j] += sum over the terms of coefficient * codes[dimension * block_rows + j]. Returns the largest.
float add_code_scores(const Term* terms, std::size_t count, const std::uint16_t* codes, float* quick);

// bounds[j] = sum over the terms of coefficient * (coefficient > 0 ? highest : lowest)[dimension *
// group_blocks
// + j].
void upper_bounds(const Term* terms, std::size_t count, const float* highest, const float* lowest,
                  float* bounds);

}  // namespace sotto::serving
