#include "rounds/model_version.h"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/utf8.h"

namespace sotto::rounds {

namespace {

constexpr std::string_view model_magic = "SOTTOMOD", items_magic = "SOTTOITM";
constexpr std::uint16_t blob_version = 1;

void begin(ByteWriter& writer, std::string_view magic) {
  writer.raw(magic);
  writer.number(blob_version);
}

Status check_beginning(ByteReader& reader, std::string_view magic, std::string_view what) {
  if (reader.raw(magic.size()) != magic) return bad_input("these bytes are no {}", what);
  const auto version = reader.number<std::uint16_t>();
  if (version != blob_version)
    return bad_input("{} of version {}; this program knows version {}", what, version, blob_version);
  return {};
}

void write_numbers(ByteWriter& writer, const std::vector<float>& numbers) {
  for (const float number : numbers) writer.number(std::bit_cast<std::uint32_t>(number));
}

std::vector<float> read_numbers(ByteReader& reader, std::size_t count) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = std::bit_cast<float>(reader.number<std::uint32_t>());
  return numbers;
}

Status check_finite(const std::vector<float>& numbers, std::string_view what) {
  const auto wrong =
      std::find_if(numbers.begin(), numbers.end(), [](float number) { return !std::isfinite(number); });
  if (wrong == numbers.end()) return {};
  return bad_input("number {} of the {} is not finite", wrong - numbers.begin(), what);
}

Status check(const ModelVersion& version) {
  if (version.layout.size() > BlobLimits::layout_bytes)
    return bad_input("the layout of the model has {} bytes, at most {} are allowed", version.layout.size(),
                     BlobLimits::layout_bytes);
  if (version.numbers.empty() || version.numbers.size() > BlobLimits::numbers)
    return bad_input("the model has {} numbers, must have 1 to {}", version.numbers.size(),
                     BlobLimits::numbers);
  return check_finite(version.numbers, "model");
}

Status check(const ItemTable& table) {
  if (table.ids.size() > BlobLimits::items)
    return bad_input("the table has {} items, at most {} are allowed", table.ids.size(), BlobLimits::items);
  if (table.dimension == 0 || table.dimension > BlobLimits::dimension)
    return bad_input("items have vectors of {} numbers, must have 1 to {}", table.dimension,
                     BlobLimits::dimension);
  if (table.vectors.size() != table.ids.size() * table.dimension)
    return bad_input("{} numbers for {} items of {}", table.vectors.size(), table.ids.size(),
                     table.dimension);
  for (std::size_t i = 0; i < table.ids.size(); ++i) {
    const std::string& id = table.ids[i];
    if (id.empty() || id.size() > BlobLimits::id_bytes)
      return bad_input("the id of item {} has {} bytes, must have 1 to {}", i, id.size(),
                       BlobLimits::id_bytes);
    if (i > 0 && table.ids[i - 1] >= id)
      return bad_input("item '{}' stands behind '{}': ids ascend, each once", printable(id),
                       printable(table.ids[i - 1]));
  }
  return check_finite(table.vectors, "table of items");
}

}  // namespace

Digest blob_hash(std::string_view bytes) {
  Digest hash;
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return hash;
}

Result<std::string> encode(const ModelVersion& version) {
  SOTTO_CHECK(check(version));
  ByteWriter writer;
  begin(writer, model_magic);
  writer.raw({reinterpret_cast<const char*>(version.items.data()), version.items.size()});
  writer.long_text(version.layout);
  writer.number(static_cast<std::uint32_t>(version.numbers.size()));
  write_numbers(writer, version.numbers);
  return std::move(writer).take();
}

Result<ModelVersion> decode_model(std::string_view bytes) {
  ByteReader reader(bytes);
  SOTTO_CHECK(check_beginning(reader, model_magic, "version of a model"));
  ModelVersion version;
  const std::string_view items = reader.raw(version.items.size());
  for (std::size_t i = 0; i < items.size(); ++i) version.items[i] = static_cast<std::uint8_t>(items[i]);
  version.layout = reader.long_text();
  const std::size_t count = reader.number<std::uint32_t>();
  if (!reader.good() || reader.left() != count * sizeof(float))
    return bad_input("a version of a model states {} numbers and has {} bytes for them", count,
                     reader.left());
  version.numbers = read_numbers(reader, count);
  SOTTO_CHECK(check(version));
  return version;
}

Result<std::string> encode(const ItemTable& table) {
  SOTTO_CHECK(check(table));
  ByteWriter writer;
  begin(writer, items_magic);
  writer.number(static_cast<std::uint32_t>(table.ids.size()));
  writer.number(table.dimension);
  for (const std::string& id : table.ids) writer.text(id);
  write_numbers(writer, table.vectors);
  return std::move(writer).take();
}

Result<ItemTable> decode_items(std::string_view bytes) {
  ByteReader reader(bytes);
  SOTTO_CHECK(check_beginning(reader, items_magic, "table of items"));
  ItemTable table;
  const std::size_t count = reader.number<std::uint32_t>();
  table.dimension = reader.number<std::uint32_t>();
  // Every item has an id of a length and at least one byte: nothing is reserved that did not come.
  if (!reader.good() || count > reader.left() / 3)
    return bad_input("a table states {} items and has {} bytes for them", count, reader.left());
  table.ids.reserve(count);
  for (std::size_t i = 0; i < count && reader.good(); ++i) table.ids.emplace_back(reader.text());
  if (!reader.good() || table.dimension > BlobLimits::dimension ||
      reader.left() != count * table.dimension * sizeof(float))
    return bad_input("a table of {} items with {} numbers each has {} bytes for them", count, table.dimension,
                     reader.left());
  table.vectors = read_numbers(reader, count * table.dimension);
  SOTTO_CHECK(check(table));
  return table;
}

}  // namespace sotto::rounds
