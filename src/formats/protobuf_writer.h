#pragma once
// Protocol buffers on the wire, as far as ONNX and TensorBoard need them: fields in the order they are added.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sotto::formats {

class ProtobufMessage {
 public:
  ProtobufMessage& add(unsigned field, std::uint64_t number) {
    tag(field, varint_type);
    varint(number);
    return *this;
  }
  ProtobufMessage& add(unsigned field, std::string_view bytes) {
    tag(field, length_type);
    varint(bytes.size());
    bytes_.append(bytes);
    return *this;
  }
  ProtobufMessage& add(unsigned field, const char* text) { return add(field, std::string_view(text)); }
  ProtobufMessage& add(unsigned field, const ProtobufMessage& inner) { return add(field, inner.bytes()); }
  ProtobufMessage& add_float(unsigned field, float number) { return add_fixed(field, fixed32_type, number); }
  ProtobufMessage& add_double(unsigned field, double number) {
    return add_fixed(field, fixed64_type, number);
  }

  std::string_view bytes() const { return bytes_; }

 private:
  static constexpr unsigned varint_type = 0, fixed64_type = 1, length_type = 2, fixed32_type = 5;
  void tag(unsigned field, unsigned type) { varint((std::uint64_t{field} << 3U) | type); }
  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7U) bytes_ += static_cast<char>((number & 0x7FU) | 0x80U);
    bytes_ += static_cast<char>(number);
  }
  template <class T>
  ProtobufMessage& add_fixed(unsigned field, unsigned type, T number) {
    tag(field, type);
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes_.append(raw, sizeof number);
    return *this;
  }
  std::string bytes_;
};

}  // namespace sotto::formats
