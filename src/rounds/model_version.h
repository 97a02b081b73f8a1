#pragma once
// What devices fetch before a round, each named by the SHA-256 of its bytes: a version of the numbers that
// are trained, and the public table of items that these numbers are read with. The order of a round names the
// version, and the version names the table. Each is written in one form, and read in the one before too;
// bytes from outside are checked fully before anything is returned. Plain values.

#include <string>
#include <string_view>
#include <vector>

#include "rounds/document.h"

namespace sotto::rounds {

Digest blob_hash(std::string_view bytes);  // SHA-256

// Rows of numbers, whole or as they are sent where many are: in 8 bits each with one 16-bit scale per row.
struct NumberRows {
  std::uint32_t columns = 0;          // 0: there are none
  std::vector<float> numbers;         // [rows, columns]; of scaled rows none
  std::vector<std::uint16_t> scales;  // [rows], half precision, finite and not negative
  std::vector<std::int8_t> steps;     // [rows, columns], a number over its scale
  std::size_t rows() const { return columns == 0 ? 0 : (numbers.size() + steps.size()) / columns; }
  // As they are computed with: [rows, columns].
  std::vector<float> values() const;
  bool operator==(const NumberRows&) const = default;
};

// As they stand in a blob. What is read has its stated size and is not judged further.
void write(ByteWriter& writer, const NumberRows& rows);
Result<NumberRows> read_rows(ByteReader& reader, std::string_view what);

struct ModelVersion {
  std::string layout;  // "name:size name:size ", of which the campaign has the hash
  NumberRows numbers;  // in that order, which may end within the last row
  NumberRows items;    // vectors of the table's items that change with the version
  Digest table{};      // hash of the table
  bool operator==(const ModelVersion&) const = default;
};
// What is not finite is refused on both sides.
Result<std::string> encode(const ModelVersion& version);
Result<ModelVersion> decode_model(std::string_view bytes);
// One row of whole numbers.
NumberRows one_row(std::vector<float> numbers);

// Lists of numbers, back to back: row r has values [offsets[r], offsets[r + 1]).
struct CodeRows {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> codes;
  std::size_t rows() const { return offsets.size() - 1; }
  bool operator==(const CodeRows&) const = default;
};

// What stands for a value that is not among those of a feature, where the feature has it.
inline constexpr std::string_view other_value = "(other)";

// A feature of readers or of situations by what may be said of it. A device knows its own value by name.
struct NamedField {
  std::string name;
  std::vector<std::string> values;
  bool operator==(const NamedField&) const = default;
};

// Of everything what the recipe reads.
struct ItemTable {
  std::vector<std::string> ids;  // in the order of the model's rows, each once
  NumberRows vectors;            // fixed ones
  NumberRows words;              // vectors of words, fixed ones
  std::vector<CodeRows> titles;  // none or one: the words of every item
  std::vector<CodeRows> fields;  // features of items
  std::vector<NamedField> reader_fields, situation_fields;
  std::size_t size() const { return ids.size(); }
  bool operator==(const ItemTable&) const = default;
};
Result<std::string> encode(const ItemTable& table);
Result<ItemTable> decode_items(std::string_view bytes);

struct BlobLimits {
  static constexpr std::size_t layout_bytes = 1 << 16;
  static constexpr std::size_t numbers = std::size_t{1} << 26;  // of a version, of each table
  static constexpr std::size_t items = 4'000'000;
  static constexpr std::size_t id_bytes = 1024;
  static constexpr std::size_t dimension = 4096;  // of an item, or a word
  static constexpr std::size_t fields = 1000, values = 1'000'000;
  static constexpr std::size_t bytes = std::size_t{1} << 30;
};

}  // namespace sotto::rounds
