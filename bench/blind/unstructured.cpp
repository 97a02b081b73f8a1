#include "bench/blind/unstructured.h"

#include <sodium.h>

#include <array>

#include "base/isa.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "bench/benchmarks.h"
#include "blind/ring.h"

namespace sotto::bench {

namespace {

constexpr std::size_t n = blind::ring_degree;

SOTTO_MULTIVERSION std::uint32_t word_product(const std::uint32_t* left, const std::uint32_t* right) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += left[i] * right[i];
  return sum;
}

SOTTO_MULTIVERSION void add_multiple(std::uint32_t factor, const std::uint32_t* row, std::uint32_t* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += factor * row[i];
}

SOTTO_MULTIVERSION std::uint32_t mixed_product(const std::int8_t* entries, const std::uint32_t* words,
                                               std::size_t count) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<std::uint32_t>(entries[i]) * words[i];
  return sum;
}

// Rows of the matrix one after the other.
class Stream {
 public:
  const std::uint32_t* next() {
    crypto_stream_chacha20_ietf_xor_ic(reinterpret_cast<unsigned char*>(row_.data()), zeros_.data(),
                                       sizeof row_, nonce_.data(), block_, key_.data());
    block_ += sizeof row_ / 64;
    return row_.data();
  }

 private:
  alignas(64) std::array<std::uint32_t, n> row_{};
  std::array<unsigned char, sizeof row_> zeros_{};
  std::array<unsigned char, crypto_stream_chacha20_ietf_NONCEBYTES> nonce_{};
  std::array<unsigned char, crypto_stream_chacha20_ietf_KEYBYTES> key_{};
  std::uint32_t block_ = 0;
};

}  // namespace

double unstructured_key_seconds(const blind::Shape& shape) {
  std::vector<std::uint32_t> secret(n, 3), zero(shape.columns());
  Stream stream;
  const double start = thread_seconds();
  for (std::uint32_t& word : zero) word = word_product(stream.next(), secret.data());
  return thread_seconds() - start;
}

double unstructured_hint_seconds(const serving::BlindDatabase& database) {
  constexpr std::size_t rows = 2;
  const std::size_t columns = database.parameters().shape.columns();
  std::vector<std::uint32_t> matrix(256 * n, 5),
      sums(n);  // some of its rows, so that reading them is not measured
  const double start = thread_seconds();
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      add_multiple(static_cast<std::uint32_t>(database.entry(row, column)), matrix.data() + column % 256 * n,
                   sums.data());
  return (thread_seconds() - start) * database.parameters().shape.rows / rows;
}

std::vector<std::int8_t> row_major(const serving::BlindDatabase& database) {
  const blind::Shape& shape = database.parameters().shape;
  std::vector<std::int8_t> bytes(shape.rows * shape.columns());
  parallel_for(shape.rows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t column = 0; column < shape.columns(); ++column)
        bytes[row * shape.columns() + column] = static_cast<std::int8_t>(database.entry(row, column));
  });
  return bytes;
}

void plain_product(std::span<const std::int8_t> matrix, std::span<const std::uint32_t> words,
                   std::span<std::uint32_t> out) {
  for (std::size_t row = 0; row < out.size(); ++row)
    out[row] = mixed_product(matrix.data() + row * words.size(), words.data(), words.size());
}

SOTTO_MULTIVERSION std::uint64_t sum_of_words(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += words[i];
  return sum;
}

std::uint64_t sum_of(std::span<const std::uint64_t> memory) {
  return sum_of_words(memory.data(), memory.size());
}

SOTTO_MULTIVERSION void score_rows_of(const float* vectors, const float* user, std::size_t width,
                                      std::size_t count, float* scores) {
  for (std::size_t row = 0; row < count; ++row, vectors += width) {
    float sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += vectors[i] * user[i];
    scores[row] = sum;
  }
}

void score_all(std::span<const float> vectors, std::span<const float> user, std::span<float> scores) {
  score_rows_of(vectors.data(), user.data(), user.size(), scores.size(), scores.data());
}

}  // namespace sotto::bench
