#pragma once
// Features of items, users or interactions while a dataset is being built.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/string_table.h"

namespace sotto {

// Rows may be set in any order and more than once (the last value stays); rows never set are missing. A
// column appears with its first value, so names and values may be anything, except infinite numbers: the
// first problem is kept and returned by write(). Not thread-safe.
class FeatureColumns {
 public:
  // Empty strings among the values are missing values.
  void set_categorical(std::size_t row, std::string_view feature, std::span<const std::string_view> values);
  // NaN is a missing value.
  void set_numeric(std::size_t row, std::string_view feature, float value);

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
  };

  Status problem_;
  StringTable categorical_names_, numeric_names_;
  std::vector<CategoricalColumn> categorical_;
  std::vector<std::vector<float>> numeric_;
};

}  // namespace sotto
