#pragma once
// Writes the two kinds of variable-length columns of a dataset file.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/binary_file.h"
#include "data/dataset_sections.h"
#include "data/string_table.h"

namespace sotto {

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

}  // namespace sotto
