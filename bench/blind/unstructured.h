#pragma once
// What blind serving would cost with a public matrix without structure (SimplePIR's), and plain loops to
// compare with.

#include <cstdint>
#include <span>
#include <vector>

#include "serving/blind/database.h"

namespace sotto::bench {

// A key for one ciphertext: the matrix' whole key stream, 4 KB a column, and its products with the secret.
double unstructured_key_seconds(const blind::Shape& shape);
// The hint on one core, from two of its rows: 1024 products a matrix entry.
double unstructured_hint_seconds(const serving::BlindDatabase& database);

// The matrix row by row, a byte an entry.
std::vector<std::int8_t> row_major(const serving::BlindDatabase& database);
void plain_product(std::span<const std::int8_t> matrix, std::span<const std::uint32_t> words,
                   std::span<std::uint32_t> out);

std::uint64_t sum_of(std::span<const std::uint64_t> memory);
// scores[i] = vectors[i]·user
void score_all(std::span<const float> vectors, std::span<const float> user, std::span<float> scores);

}  // namespace sotto::bench
