#include "device/query/drawn_query.h"

#include <bit>

#include "base/byte_codec.h"

namespace sotto {

namespace {

// The byte behind the model's name. Files of devices hold these numbers.
enum : std::uint8_t { kCoefficients = 1, kPrototypes = 2, kPopular = 3, kMechanism = 4 };

struct Writer {
  ByteWriter& bytes;
  void operator()(const BasisWeights& weights) const {
    bytes.number<std::uint8_t>(kCoefficients);
    for (const float weight : weights) bytes.number(std::bit_cast<std::uint32_t>(weight));
  }
  void operator()(const PrototypeNumbers& numbers) const {
    bytes.number<std::uint8_t>(kPrototypes);
    for (const std::uint32_t number : numbers) bytes.number(number);
  }
  void operator()(const PopularQuery&) const { bytes.number<std::uint8_t>(kPopular); }
  void operator()(const MechanismQuery& own) const {
    bytes.number<std::uint8_t>(kMechanism);
    bytes.text(own.mechanism);
    bytes.raw(own.bytes);
  }
};

Result<ServingQuery> read_answer(ByteReader& reader) {
  switch (reader.number<std::uint8_t>()) {
    case kCoefficients: {
      BasisWeights weights(reader.left() / sizeof(float));
      for (float& weight : weights) {
        weight = std::bit_cast<float>(reader.number<std::uint32_t>());
        if (!(weight >= 0 && weight <= 1)) return bad_input("the stored answer holds {}", weight);
      }
      return weights;
    }
    case kPrototypes: {
      PrototypeNumbers numbers(reader.left() / sizeof(std::uint32_t));
      for (std::uint32_t& number : numbers) number = reader.number<std::uint32_t>();
      if (numbers.empty()) return bad_input("the stored answer names no prototype");
      return numbers;
    }
    case kPopular:
      return PopularQuery{};
    case kMechanism: {
      MechanismQuery own;
      own.mechanism = reader.text();
      own.bytes = reader.raw(reader.left());
      return own;
    }
    default:
      return bad_input("the stored answer is damaged");
  }
}

}  // namespace

std::string encode(const DrawnQuery& query) {
  ByteWriter writer;
  writer.text(query.model);
  std::visit(Writer{writer}, query.answer);
  return std::move(writer).take();
}

Result<DrawnQuery> decode_drawn_query(std::string_view bytes) {
  ByteReader reader(bytes);
  DrawnQuery query;
  query.model = reader.text();
  SOTTO_TRY(query.answer, read_answer(reader));
  if (!reader.complete()) return bad_input("the stored answer is damaged");
  return query;
}

}  // namespace sotto
