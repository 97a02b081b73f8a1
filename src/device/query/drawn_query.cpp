#include "device/query/drawn_query.h"

#include <bit>
#include <cmath>

#include "privacy/ledger/byte_codec.h"

namespace sotto {

namespace {
enum : std::uint8_t { kCoefficients = 1, kPrototype = 2 };
}  // namespace

std::string encode(const DrawnQuery& query) {
  ByteWriter writer;
  writer.text(query.model);
  if (const auto* coefficients = std::get_if<std::vector<float>>(&query.answer)) {
    writer.number<std::uint8_t>(kCoefficients);
    for (const float coefficient : *coefficients) writer.number(std::bit_cast<std::uint32_t>(coefficient));
  } else {
    writer.number<std::uint8_t>(kPrototype);
    writer.number(std::get<std::uint32_t>(query.answer));
  }
  return std::move(writer).take();
}

Result<DrawnQuery> decode_drawn_query(std::string_view bytes) {
  ByteReader reader(bytes);
  DrawnQuery query;
  query.model = reader.text();
  const auto kind = reader.number<std::uint8_t>();
  if (kind == kCoefficients) {
    std::vector<float> coefficients(reader.left() / sizeof(float));
    for (float& coefficient : coefficients) {
      coefficient = std::bit_cast<float>(reader.number<std::uint32_t>());
      if (!(coefficient >= 0 && coefficient <= 1))
        return bad_input("the stored answer holds {}", coefficient);
    }
    query.answer = std::move(coefficients);
  } else {
    query.answer = reader.number<std::uint32_t>();
  }
  if (!reader.complete() || (kind != kCoefficients && kind != kPrototype)) {
    return bad_input("the stored answer is damaged");
  }
  return query;
}

}  // namespace sotto
