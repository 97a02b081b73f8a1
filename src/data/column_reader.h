#pragma once
// Reads columns of a dataset file and checks everything a later access relies on: row counts, offsets that
// only grow and end at the last value, codes inside their dictionary, numbers that are finite or missing.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/dataset.h"

namespace sotto {

// Views returned live as long as the file reader. Thread-safe.
class ColumnReader {
 public:
  explicit ColumnReader(const BinaryFileReader& file) : file_(file) {}

  // `rows`, where given, is the number of rows the column must have.
  template <class T>
  Result<std::span<const T>> values(std::string_view name, std::optional<std::size_t> rows = {}) const {
    SOTTO_TRY(const std::span<const T> column, file_.section<T>(name));
    if (rows && column.size() != *rows) return wrong_length(name, column.size(), *rows);
    return column;
  }
  Result<StringColumn> strings(std::string_view name, std::optional<std::size_t> rows = {}) const;
  // Values below `limit`.
  Result<std::span<const std::uint32_t>> codes(std::string_view name, std::size_t limit,
                                               std::optional<std::size_t> rows = {}) const;
  Result<ListColumn<std::uint32_t>> code_lists(std::string_view name, std::size_t rows,
                                               std::size_t limit) const;
  // `rows` + 1 offsets, from 0 to `end`.
  Result<std::span<const std::uint64_t>> offsets(std::string_view name, std::size_t rows,
                                                 std::size_t end) const;
  Result<std::span<const float>> finite_or_missing(std::string_view name, std::size_t rows) const;
  Result<Features> features(std::string_view owner, std::size_t rows) const;

  const BinaryFileReader& file() const { return file_; }

 private:
  static tl::unexpected<Error> wrong_length(std::string_view name, std::size_t rows, std::size_t expected);
  Result<CategoricalFeature> categorical(std::string_view owner, std::size_t feature, std::size_t rows) const;

  const BinaryFileReader& file_;
};

}  // namespace sotto
