#pragma once
// Columns of a dataset file, as they are built and as they are read back: tables of strings, variable-length
// columns, features.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/dataset.h"
#include "data/dataset_sections.h"

namespace sotto::data {

// Numbers strings in the order they are first seen and keeps them back to back, ready to be written as a
// string column. Lookups take a string_view and allocate nothing. Owns its strings. Views returned live until
// the next intern(). Not thread-safe while interning.
class StringTable {
 public:
  // The number of `text`, which must not point into this table; a new string gets the next number. Throws
  // std::length_error beyond 2^32 - 1 strings, as containers do.
  std::uint32_t intern(std::string_view text);
  std::optional<std::uint32_t> find(std::string_view text) const;

  std::size_t size() const { return offsets_.size() - 1; }
  std::string_view operator[](std::size_t number) const {
    return {bytes_.data() + offsets_[number],
            static_cast<std::size_t>(offsets_[number + 1] - offsets_[number])};
  }
  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const char> bytes() const { return bytes_; }

  // Renumbers the strings by `before`, an order of their numbers; those that it leaves equal go by length and
  // bytes, so that ids that are numbers count upwards. Returns the new number of each old one.
  template <class Before>
  std::vector<std::uint32_t> sort(Before before);
  // The same, the first `fixed` strings staying where they are.
  std::vector<std::uint32_t> sort_after(std::size_t fixed);

 private:
  std::vector<std::uint32_t> renumber(std::span<const std::uint32_t> old_numbers);
  // Open addressing with linear probing. `occupant` is the number plus one, 0 when free; the hash is kept so
  // that probing seldom touches the strings and growing never does.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t occupant = 0;
  };
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<char> bytes_;
  std::vector<Slot> slots_ = std::vector<Slot>(16);
};

template <class Before>
std::vector<std::uint32_t> StringTable::sort(Before before) {
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    if (before(left, right) != before(right, left)) return before(left, right);
    const std::string_view a = (*this)[left], b = (*this)[right];
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return renumber(order);
}

// The two kinds of variable-length columns.
inline Status write_strings(BinaryFileWriter& writer, std::string_view name,
                            std::span<const std::uint64_t> offsets, std::span<const char> bytes) {
  SOTTO_CHECK(writer.add(dataset_sections::offsets_of(name), offsets));
  return writer.add(dataset_sections::bytes_of(name), bytes);
}

inline Status write_strings(BinaryFileWriter& writer, std::string_view name, const StringTable& table) {
  return write_strings(writer, name, table.offsets(), table.bytes());
}

// Row i is text(i), a string_view.
template <class Text>
Status write_strings(BinaryFileWriter& writer, std::string_view name, std::size_t rows, Text text) {
  std::vector<std::uint64_t> offsets = {0};
  offsets.reserve(rows + 1);
  std::vector<char> bytes;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string_view value = text(row);
    bytes.insert(bytes.end(), value.begin(), value.end());
    offsets.push_back(bytes.size());
  }
  return write_strings(writer, name, offsets, bytes);
}

// Row i is codes(i), a span of numbers.
template <class Codes>
Status write_lists(BinaryFileWriter& writer, std::string_view name, std::size_t rows, Codes codes) {
  std::vector<std::uint64_t> offsets = {0};
  offsets.reserve(rows + 1);
  std::vector<std::uint32_t> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<const std::uint32_t> list = codes(row);
    values.insert(values.end(), list.begin(), list.end());
    offsets.push_back(values.size());
  }
  SOTTO_CHECK(writer.add(dataset_sections::offsets_of(name), offsets));
  return writer.add(dataset_sections::values_of(name), values);
}

// Features of items, users or interactions. Rows may be set in any order and more than once (the last value
// stays); rows never set are missing. A column appears with its first value, so names and values may be
// anything, except infinite numbers: the first problem is kept and returned by write(). Not thread-safe.
class FeatureColumns {
 public:
  // Empty strings among the values are missing values.
  void set_categorical(std::size_t row, std::string_view feature, std::span<const std::string_view> values);
  // Adds a column whose values, in that order, are known beforehand; to be called before any of them is set.
  void declare(std::string_view feature, std::span<const std::string_view> values);
  // NaN is a missing value.
  void set_numeric(std::size_t row, std::string_view feature, float value);

  // Numbers the values that were not declared by their names: whose row came first does not show.
  void sort_values();
  // Row i becomes row new_numbers[i].
  void renumber_rows(std::span<const std::uint32_t> new_numbers);
  // Of everything that a row holds, by names: equal for equal rows.
  std::uint64_t hash_of_row(std::size_t row) const;

  // Writes row order[i] as row i of `rows`; an empty order keeps the rows as they are.
  Status write(BinaryFileWriter& writer, std::string_view owner, std::size_t rows,
               std::span<const std::uint64_t> order = {}) const;

 private:
  struct CodeRange {
    std::uint64_t begin = 0;
    std::uint32_t count = 0;
  };
  struct CategoricalColumn {
    StringTable names;
    std::vector<CodeRange> rows;
    std::vector<std::uint32_t> codes;
    std::uint32_t declared = 0;  // of the names, the first ones
  };
  std::span<const std::uint32_t> codes_of(const CategoricalColumn& column, std::size_t row) const;

  Status problem_;
  StringTable categorical_names_, numeric_names_;
  std::vector<CategoricalColumn> categorical_;
  std::vector<std::vector<float>> numeric_;
};

// Reads columns of a dataset file and checks everything a later access relies on: row counts, offsets that
// only grow and end at the last value, codes inside their dictionary, numbers that are finite or missing.

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

}  // namespace sotto::data
