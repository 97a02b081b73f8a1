#pragma once
// The items as the matrix that ciphertexts are multiplied with: M rows of d·C entries between -7 and 7, two
// in a byte. Every question reads all of it, in the same order, whatever it asks: the server could not tell
// more if it looked at its own memory accesses.
//
// Immutable; safe to share between threads.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "blind/parameters.h"
#include "serving/blind/product_kernels.h"

namespace sotto::serving {

class BlindDatabase {
 public:
  // entries: slot by slot as SlotIds has them (cluster · rows + row), `dimension` numbers each; zeros where
  // no item is. Refused when an entry or an item's norm is larger than decryption is proved for.
  static Result<BlindDatabase> create(const blind::Parameters& parameters,
                                      std::span<const std::int8_t> entries);

  const blind::Parameters& parameters() const { return parameters_; }
  std::size_t bytes() const { return packed_.size(); }

  // answers: rows words per query. queries: columns words each; they share one pass over the memory.
  void answer(std::span<const std::span<const std::uint32_t>> queries, std::span<std::uint32_t> answers,
              ProductKernel kernel = fastest_product_kernel()) const;
  // The same as one writes it down.
  std::vector<std::uint32_t> plain_answer(std::span<const std::uint32_t> query) const;

  // An entry of the matrix.
  std::int32_t entry(std::size_t row, std::size_t column) const;

 private:
  explicit BlindDatabase(const blind::Parameters& parameters);
  std::size_t place(std::size_t row, std::size_t column) const;  // of its byte

  blind::Parameters parameters_;
  std::size_t row_groups_, column_groups_;  // filled up with zeros
  // All groups of columns of the first 64 rows, then those of the next.
  std::vector<std::uint8_t> packed_;
};

}  // namespace sotto::serving
