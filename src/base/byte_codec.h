#pragma once
// Numbers and texts as little-endian bytes, whatever the machine.
//
// The reader never reads past its end: after the first field that is not there it is bad, and every further
// field is zero. Look at complete() once, when all is read.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sotto {

class ByteWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_unsigned_v<T>);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    }
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  // Its length as 16 bits, then the bytes. The caller has checked that it is that short.
  void text(std::string_view value) {
    number(static_cast<std::uint16_t>(value.size()));
    bytes_ += value;
  }
  // As text, with a length of 32 bits.
  void long_text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_unsigned_v<T>);
    const std::string_view bytes = raw(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return static_cast<T>(value);
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  std::string_view text() { return raw(number<std::uint16_t>()); }
  std::string_view long_text() { return raw(number<std::uint32_t>()); }
  // Empty when fewer than `count` bytes are left.
  std::string_view raw(std::size_t count) {
    if (count > left_.size()) {
      good_ = false;
      left_ = {};
      return {};
    }
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return bytes;
  }
  bool good() const { return good_; }
  std::size_t left() const { return left_.size(); }
  // Everything was there and nothing is left.
  bool complete() const { return good_ && left_.empty(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

}  // namespace sotto
