#include "rounds/model_version.h"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/utf8.h"

namespace sotto::rounds {

namespace {

constexpr std::string_view model_magic = "SOTTOMOD", items_magic = "SOTTOITM";
// Of the first form there are whole numbers alone; it is read, and written no more.
constexpr std::uint16_t first_form = 1, blob_form = 2;
constexpr std::uint16_t half_infinity = 0x7c00;

void begin(ByteWriter& writer, std::string_view magic) {
  writer.raw(magic);
  writer.number(blob_form);
}

Result<std::uint16_t> read_form(ByteReader& reader, std::string_view magic, std::string_view what) {
  if (reader.raw(magic.size()) != magic) return bad_input("these bytes are no {}", what);
  const auto form = reader.number<std::uint16_t>();
  if (form < first_form || form > blob_form)
    return bad_input("{} of version {}; this program knows versions {} to {}", what, form, first_form,
                     blob_form);
  return form;
}

// Numbers of the first form, to the end.
Result<NumberRows> read_whole(ByteReader& reader, std::uint32_t rows, std::uint32_t columns,
                              std::string_view what) {
  const std::uint64_t count = std::uint64_t{rows} * columns;
  if (!reader.good() || reader.left() % sizeof(float) != 0 || reader.left() / sizeof(float) != count)
    return bad_input("the {} states {} rows of {} numbers and has {} bytes for them", what, rows, columns,
                     reader.left());
  std::vector<float> numbers(count);
  for (float& number : numbers) number = std::bit_cast<float>(reader.number<std::uint32_t>());
  return NumberRows{columns, std::move(numbers), {}, {}};
}

// A finite number of half precision that is not negative.
float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10;
  const auto fraction = static_cast<float>(bits & 0x3ff);
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
}

Status check(const NumberRows& rows, std::size_t most_columns, std::string_view what) {
  if (rows.columns > most_columns)
    return bad_input("the {} has rows of {} numbers, at most {} are allowed", what, rows.columns,
                     most_columns);
  if (!rows.numbers.empty() && !rows.steps.empty())
    return bad_input("the {} has whole numbers and scaled ones", what);
  const std::size_t count = rows.numbers.size() + rows.steps.size();
  if (count > BlobLimits::numbers)
    return bad_input("the {} has {} numbers, at most {} are allowed", what, count, BlobLimits::numbers);
  if ((rows.columns == 0 ? count : count % rows.columns) != 0 ||
      rows.scales.size() != (rows.steps.empty() ? 0 : rows.rows()))
    return bad_input("the {} has {} numbers and {} scales in rows of {}", what, count, rows.scales.size(),
                     rows.columns);
  const auto wrong = std::find_if(rows.numbers.begin(), rows.numbers.end(),
                                  [](float number) { return !std::isfinite(number); });
  if (wrong != rows.numbers.end())
    return bad_input("number {} of the {} is not finite", wrong - rows.numbers.begin(), what);
  if (std::any_of(rows.scales.begin(), rows.scales.end(),
                  [](std::uint16_t scale) { return scale >= half_infinity; }))
    return bad_input("a scale of the {} is not finite, or negative", what);
  return {};
}

Status check(const CodeRows& rows, std::size_t items, std::string_view what) {
  if (rows.offsets.empty() || rows.offsets.front() != 0 || rows.offsets.back() != rows.codes.size() ||
      !std::is_sorted(rows.offsets.begin(), rows.offsets.end()))
    return bad_input("the {} is not cut into rows", what);
  if (rows.rows() != items || rows.codes.size() > BlobLimits::numbers)
    return bad_input("the {} has {} rows and {} numbers, for {} items", what, rows.rows(), rows.codes.size(),
                     items);
  return {};
}

void write(ByteWriter& writer, const CodeRows& rows) {
  writer.number(static_cast<std::uint32_t>(rows.rows()));
  for (std::size_t r = 0; r < rows.rows(); ++r)
    writer.number(static_cast<std::uint32_t>(rows.offsets[r + 1] - rows.offsets[r]));
  for (const std::uint32_t code : rows.codes) writer.number(code);
}

Result<CodeRows> read_codes(ByteReader& reader) {
  CodeRows rows;
  const std::size_t count = reader.number<std::uint32_t>();
  if (!reader.good() || count > reader.left() / sizeof(std::uint32_t))
    return bad_input("a list of a table states {} rows and has {} bytes for them", count, reader.left());
  rows.offsets.reserve(count + 1);
  for (std::size_t r = 0; r < count; ++r)
    rows.offsets.push_back(rows.offsets.back() + reader.number<std::uint32_t>());
  if (!reader.good() || rows.offsets.back() > reader.left() / sizeof(std::uint32_t))
    return bad_input("a list of a table states {} numbers and has {} bytes for them", rows.offsets.back(),
                     reader.left());
  rows.codes.resize(rows.offsets.back());
  for (std::uint32_t& code : rows.codes) code = reader.number<std::uint32_t>();
  return rows;
}

Result<std::vector<std::string>> read_texts(ByteReader& reader, std::size_t count, std::string_view what) {
  // Every text has a length.
  if (!reader.good() || count > reader.left() / 2)
    return bad_input("a table states {} {} and has {} bytes for them", count, what, reader.left());
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t i = 0; i < count && reader.good(); ++i) texts.emplace_back(reader.text());
  if (!reader.good()) return bad_input("the {} of a table are cut off", what);
  return texts;
}

void write(ByteWriter& writer, const std::vector<std::string>& texts) {
  writer.number(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) writer.text(text);
}

// Each once, of 1 to so many bytes.
Status check_names(const std::vector<std::string>& names, std::size_t most, std::string_view what) {
  if (names.size() > most)
    return bad_input("the table has {} {}s, at most {} are allowed", names.size(), what, most);
  std::vector<std::string_view> sorted(names.begin(), names.end());
  for (const std::string_view name : sorted)
    if (name.empty() || name.size() > BlobLimits::id_bytes)
      return bad_input("a {} has {} bytes, must have 1 to {}", what, name.size(), BlobLimits::id_bytes);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return {};
  return bad_input("{} '{}' is there twice in a table", what, printable(*twice));
}

Status check(const ModelVersion& version) {
  if (version.layout.size() > BlobLimits::layout_bytes)
    return bad_input("the layout of the model has {} bytes, at most {} are allowed", version.layout.size(),
                     BlobLimits::layout_bytes);
  SOTTO_CHECK(check(version.numbers, BlobLimits::numbers, "model"));
  if (version.numbers.rows() == 0) return bad_input("the model has no numbers");
  return check(version.items, BlobLimits::dimension, "version's table of items");
}

Status check(const ItemTable& table) {
  SOTTO_CHECK(check_names(table.ids, BlobLimits::items, "item"));
  SOTTO_CHECK(check(table.vectors, BlobLimits::dimension, "table of items"));
  if (table.vectors.rows() > 0 && table.vectors.rows() != table.size())
    return bad_input("{} vectors for {} items", table.vectors.rows(), table.size());
  SOTTO_CHECK(check(table.words, BlobLimits::dimension, "table of words"));
  if (table.titles.size() > 1 || table.fields.size() > BlobLimits::fields)
    return bad_input("the table has {} titles and {} features of items, at most 1 and {} are allowed",
                     table.titles.size(), table.fields.size(), BlobLimits::fields);
  for (const CodeRows& titles : table.titles) SOTTO_CHECK(check(titles, table.size(), "table of titles"));
  for (const CodeRows& field : table.fields) SOTTO_CHECK(check(field, table.size(), "feature of the items"));
  for (const auto* fields : {&table.reader_fields, &table.situation_fields}) {
    std::vector<std::string> names;
    for (const NamedField& field : *fields) {
      names.push_back(field.name);
      SOTTO_CHECK(check_names(field.values, BlobLimits::values, "value"));
    }
    SOTTO_CHECK(check_names(names, BlobLimits::fields, "feature"));
  }
  return {};
}

}  // namespace

Digest blob_hash(std::string_view bytes) {
  Digest hash;
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return hash;
}

std::vector<float> NumberRows::values() const {
  if (steps.empty()) return numbers;
  std::vector<float> all;
  all.reserve(steps.size());
  for (std::size_t row = 0; row < scales.size(); ++row) {
    const float scale = from_half(scales[row]);
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i)
      all.push_back(static_cast<float>(steps[i]) * scale);
  }
  return all;
}

void write(ByteWriter& writer, const NumberRows& rows) {
  writer.number(rows.columns);
  writer.number(static_cast<std::uint32_t>(rows.rows()));
  writer.number(static_cast<std::uint8_t>(rows.steps.empty() ? 0 : 1));
  for (const float number : rows.numbers) writer.number(std::bit_cast<std::uint32_t>(number));
  for (const std::uint16_t scale : rows.scales) writer.number(scale);
  writer.raw({reinterpret_cast<const char*>(rows.steps.data()), rows.steps.size()});
}

// Nothing is reserved that did not come.
Result<NumberRows> read_rows(ByteReader& reader, std::string_view what) {
  NumberRows rows;
  rows.columns = reader.number<std::uint32_t>();
  const std::uint64_t count = reader.number<std::uint32_t>();
  const auto scaled = reader.number<std::uint8_t>();
  const std::uint64_t numbers = count * rows.columns;
  if (!reader.good() || scaled > 1 || (numbers == 0 && (count > 0 || scaled > 0)) ||
      numbers > reader.left() / (scaled == 1 ? 1 : sizeof(float)) ||
      (scaled == 1 && count > (reader.left() - numbers) / sizeof(std::uint16_t)))
    return bad_input("the {} states {} rows of {} numbers and has {} bytes for them", what, count,
                     rows.columns, reader.left());
  if (scaled == 0) {
    rows.numbers.resize(numbers);
    for (float& number : rows.numbers) number = std::bit_cast<float>(reader.number<std::uint32_t>());
    return rows;
  }
  rows.scales.resize(count);
  for (std::uint16_t& scale : rows.scales) scale = reader.number<std::uint16_t>();
  const std::string_view steps = reader.raw(numbers);
  rows.steps.assign(steps.begin(), steps.end());
  return rows;
}

NumberRows one_row(std::vector<float> numbers) {
  return {static_cast<std::uint32_t>(numbers.size()), std::move(numbers), {}, {}};
}

Result<std::string> encode(const ModelVersion& version) {
  SOTTO_CHECK(check(version));
  ByteWriter writer;
  begin(writer, model_magic);
  writer.raw({reinterpret_cast<const char*>(version.table.data()), version.table.size()});
  writer.long_text(version.layout);
  write(writer, version.numbers);
  write(writer, version.items);
  return std::move(writer).take();
}

Result<ModelVersion> decode_model(std::string_view bytes) {
  ByteReader reader(bytes);
  SOTTO_TRY(const std::uint16_t form, read_form(reader, model_magic, "version of a model"));
  ModelVersion version;
  const std::string_view table = reader.raw(version.table.size());
  for (std::size_t i = 0; i < table.size(); ++i) version.table[i] = static_cast<std::uint8_t>(table[i]);
  version.layout = reader.long_text();
  if (form == first_form) {
    const auto count = reader.number<std::uint32_t>();
    SOTTO_TRY(version.numbers, read_whole(reader, 1, count, "version of a model"));
  } else {
    SOTTO_TRY(version.numbers, read_rows(reader, "version of a model"));
    SOTTO_TRY(version.items, read_rows(reader, "version's table of items"));
  }
  if (!reader.complete()) return bad_input("a version of a model is cut off or has something behind its end");
  SOTTO_CHECK(check(version));
  return version;
}

Result<std::string> encode(const ItemTable& table) {
  SOTTO_CHECK(check(table));
  ByteWriter writer;
  begin(writer, items_magic);
  write(writer, table.ids);
  write(writer, table.vectors);
  write(writer, table.words);
  for (const auto* lists : {&table.titles, &table.fields}) {
    writer.number(static_cast<std::uint16_t>(lists->size()));
    for (const CodeRows& rows : *lists) write(writer, rows);
  }
  for (const auto* fields : {&table.reader_fields, &table.situation_fields}) {
    writer.number(static_cast<std::uint16_t>(fields->size()));
    for (const NamedField& field : *fields) {
      writer.text(field.name);
      write(writer, field.values);
    }
  }
  return std::move(writer).take();
}

namespace {

Result<ItemTable> decode_first_items(ByteReader& reader) {
  ItemTable table;
  const auto count = reader.number<std::uint32_t>(), dimension = reader.number<std::uint32_t>();
  SOTTO_TRY(table.ids, read_texts(reader, count, "items"));
  SOTTO_TRY(table.vectors, read_whole(reader, count, dimension, "table of items"));
  SOTTO_CHECK(check(table));
  return table;
}

}  // namespace

Result<ItemTable> decode_items(std::string_view bytes) {
  ByteReader reader(bytes);
  SOTTO_TRY(const std::uint16_t form, read_form(reader, items_magic, "table of items"));
  if (form == first_form) return decode_first_items(reader);
  ItemTable table;
  const auto count = reader.number<std::uint32_t>();
  SOTTO_TRY(table.ids, read_texts(reader, count, "items"));
  SOTTO_TRY(table.vectors, read_rows(reader, "table of items"));
  SOTTO_TRY(table.words, read_rows(reader, "table of words"));
  for (auto* lists : {&table.titles, &table.fields})
    for (std::size_t i = reader.number<std::uint16_t>(); i > 0 && reader.good(); --i) {
      SOTTO_TRY(CodeRows rows, read_codes(reader));
      lists->push_back(std::move(rows));
    }
  for (auto* fields : {&table.reader_fields, &table.situation_fields})
    for (std::size_t i = reader.number<std::uint16_t>(); i > 0 && reader.good(); --i) {
      NamedField field;
      field.name = reader.text();
      const auto values = reader.number<std::uint32_t>();
      SOTTO_TRY(field.values, read_texts(reader, values, "values"));
      fields->push_back(std::move(field));
    }
  if (!reader.complete()) return bad_input("a table of items is cut off or has something behind its end");
  SOTTO_CHECK(check(table));
  return table;
}

}  // namespace sotto::rounds
