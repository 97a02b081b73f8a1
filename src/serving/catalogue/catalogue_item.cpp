#include "serving/catalogue/catalogue_item.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/byte_codec.h"
#include "base/utf8.h"

namespace sotto::serving {

namespace {

Status check_text(std::string_view what, std::string_view text, std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    return bad_input("the {} has {} bytes: at most {} are taken", what, text.size(), most_bytes);
  }
  if (!is_utf8(text)) return bad_input("the {} is not valid UTF-8", what);
  return {};
}

}  // namespace

Status check_item_id(std::string_view id) {
  if (id.empty()) return bad_input("the id is empty: name the item");
  SOTTO_CHECK(check_text("id", id, most_id_bytes));
  for (const char c : id) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == '"' || c == '\\' || c == 0x7f) {
      return bad_input("the id contains a space, a slash, a quote or a control character: choose another");
    }
  }
  return {};
}

Status check_item(const CatalogueItem& item) {
  SOTTO_CHECK(check_item_id(item.id));
  SOTTO_CHECK(check_text("title", item.title, most_title_bytes));
  SOTTO_CHECK(check_text("abstract", item.abstract, most_abstract_bytes));
  SOTTO_CHECK(check_text("category", item.category, most_name_bytes));
  SOTTO_CHECK(check_text("subcategory", item.subcategory, most_name_bytes));
  SOTTO_CHECK(check_text("language", item.language, most_name_bytes));
  SOTTO_CHECK(check_text("model version", item.encoded_by, most_name_bytes));
  if (item.published < 0 || item.published > std::numeric_limits<std::uint32_t>::max()) {
    return bad_input("the time of publication is {}: give seconds since 1970", item.published);
  }
  if (auto good = check_vector(item.vector); !good) {
    return tl::unexpected(std::move(good).error().in("the vector"));
  }
  return {};
}

Status check_vector(std::span<const float> vector) {
  if (vector.size() > most_vector_numbers) {
    return bad_input("{} numbers are too many: at most {} are taken", vector.size(), most_vector_numbers);
  }
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (!(std::abs(vector[i]) <= largest_vector_number)) {  // also when it is not a number
      return bad_input("number {} is {}: it must be finite and at most {:g} in size", i, vector[i],
                       largest_vector_number);
    }
  }
  return {};
}

std::string encode_put(const CatalogueItem& item) {
  ByteWriter writer;
  writer.number(static_cast<std::uint8_t>(CatalogueRecord::Kind::put));
  for (const std::string* text : {&item.id, &item.title, &item.abstract, &item.category, &item.subcategory,
                                  &item.language, &item.encoded_by}) {
    writer.text(*text);
  }
  writer.number(static_cast<std::uint32_t>(item.published));
  writer.number(static_cast<std::uint16_t>(item.vector.size()));
  for (const float value : item.vector) writer.number(std::bit_cast<std::uint32_t>(value));
  return std::move(writer).take();
}

std::string encode_remove(std::string_view id) {
  ByteWriter writer;
  writer.number(static_cast<std::uint8_t>(CatalogueRecord::Kind::remove));
  writer.text(id);
  return std::move(writer).take();
}

Result<CatalogueRecord> decode_record(std::string_view body) {
  ByteReader reader(body);
  CatalogueRecord record;
  const auto kind = reader.number<std::uint8_t>();
  record.item.id = reader.text();
  if (kind == static_cast<std::uint8_t>(CatalogueRecord::Kind::remove)) {
    record.kind = CatalogueRecord::Kind::remove;
    if (!reader.complete()) return bad_input("a removal is too short or too long");
    SOTTO_CHECK(check_item_id(record.item.id));
    return record;
  }
  if (kind != static_cast<std::uint8_t>(CatalogueRecord::Kind::put)) {
    return bad_input("a record is of unknown kind {}", kind);
  }
  CatalogueItem& item = record.item;
  item.title = reader.text();
  item.abstract = reader.text();
  item.category = reader.text();
  item.subcategory = reader.text();
  item.language = reader.text();
  item.encoded_by = reader.text();
  item.published = reader.number<std::uint32_t>();
  const auto numbers = reader.number<std::uint16_t>();
  if (!reader.good() || reader.left() != numbers * sizeof(float)) {
    return bad_input("an item is too short or too long");
  }
  item.vector.resize(numbers);
  for (float& value : item.vector) value = std::bit_cast<float>(reader.number<std::uint32_t>());
  SOTTO_CHECK(check_item(item));
  return record;
}

}  // namespace sotto::serving
