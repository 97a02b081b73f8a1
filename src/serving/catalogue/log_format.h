#pragma once
// The bytes of a catalogue's log, and how damage is told from an interrupted append.
//
//   file    header, record, record, ...
//   header  "SOTTOCAT", version (4 bytes), 4 zero bytes, generation (8), xxh3 of those (8)
//   record  body length (4), xxh3 of length, generation and offset (8), body, xxh3 of head and body (8)
//
// All little-endian. The length has its own check, so that a flipped bit in it cannot pass for an interrupted
// append. What an interrupted append leaves is a prefix of a record, or, after a power failure, zeros or a
// last record that is partly there: it was never acknowledged, and may be cut off. Everything else is damage.
// Pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto::serving::log_format {

constexpr std::size_t header_bytes = 32;
constexpr std::size_t record_head_bytes = 12;
constexpr std::size_t record_tail_bytes = 8;
constexpr std::size_t most_body_bytes = std::size_t{1} << 16;

std::string encode_header(std::uint64_t generation);
// Appends one record to `out`, which lies at `offset` of the file.
void append_record(std::string& out, std::string_view body, std::uint64_t generation, std::uint64_t offset);

// Reads record by record; the views live as long as the bytes.
class Reader {
 public:
  static Result<Reader> open(std::string_view file);

  std::uint64_t generation() const { return generation_; }
  // False at the end, be it clean or torn.
  Result<bool> next(std::string_view& body);
  std::uint64_t complete_bytes() const { return at_; }  // up to the end of the last record returned
  bool is_torn() const { return at_ < file_.size(); }   // at the end

 private:
  Reader(std::string_view file, std::uint64_t generation)
      : file_(file), generation_(generation), at_(header_bytes) {}
  std::string_view file_;
  std::uint64_t generation_;
  std::uint64_t at_;
};

}  // namespace sotto::serving::log_format
