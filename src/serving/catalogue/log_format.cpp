#include "serving/catalogue/log_format.h"

#include <xxhash.h>

#include <algorithm>

#include "privacy/ledger/byte_codec.h"

namespace sotto::serving::log_format {

namespace {

constexpr std::string_view magic = "SOTTOCAT";
constexpr std::uint32_t version = 2;

std::uint64_t head_check(std::uint32_t length, std::uint64_t generation, std::uint64_t offset) {
  ByteWriter writer;
  writer.number(length);
  writer.number(generation);
  writer.number(offset);
  return XXH3_64bits(writer.bytes().data(), writer.bytes().size());
}

std::uint64_t hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

}  // namespace

std::string encode_header(std::uint64_t generation) {
  ByteWriter writer;
  writer.raw(magic);
  writer.number(version);
  writer.number(std::uint32_t{0});
  writer.number(generation);
  writer.number(hash(writer.bytes()));
  return std::move(writer).take();
}

void append_record(std::string& out, std::string_view body, std::uint64_t generation, std::uint64_t offset) {
  const auto length = static_cast<std::uint32_t>(body.size());
  ByteWriter writer;
  writer.number(length);
  writer.number(head_check(length, generation, offset));
  writer.raw(body);
  writer.number(hash(writer.bytes()));
  out += writer.bytes();
}

Result<Reader> Reader::open(std::string_view file) {
  ByteReader reader(file.substr(0, header_bytes));
  const std::string_view name = reader.raw(magic.size());
  const auto given_version = reader.number<std::uint32_t>();
  reader.number<std::uint32_t>();
  const auto generation = reader.number<std::uint64_t>();
  const auto check = reader.number<std::uint64_t>();
  if (!reader.complete() || name != magic) return bad_input("this is not a catalogue's log");
  if (check != hash(file.substr(0, header_bytes - sizeof check))) {
    return bad_input("the header is damaged: restore the file from a backup");
  }
  if (given_version != version) {
    return bad_input("the log has version {}, this program reads {}", given_version, version);
  }
  return Reader(file, generation);
}

Result<bool> Reader::next(std::string_view& body) {
  const std::string_view left = file_.substr(at_);
  if (left.size() < record_head_bytes) return false;
  ByteReader head(left.substr(0, record_head_bytes));
  const auto length = head.number<std::uint32_t>();
  if (head.number<std::uint64_t>() != head_check(length, generation_, at_)) {
    if (all_zero(left)) return false;
    return bad_input("damaged at byte {}: restore the file from a backup", at_);
  }
  if (length > most_body_bytes) return bad_input("a record of {} bytes at byte {} is too long", length, at_);
  const std::size_t whole = record_head_bytes + length + record_tail_bytes;
  if (left.size() < whole) return false;
  ByteReader tail(left.substr(record_head_bytes + length, record_tail_bytes));
  if (tail.number<std::uint64_t>() != hash(left.substr(0, record_head_bytes + length))) {
    if (left.size() == whole || all_zero(left.substr(whole))) return false;
    return bad_input("damaged at byte {}: restore the file from a backup", at_);
  }
  body = left.substr(record_head_bytes, length);
  at_ += whole;
  return true;
}

}  // namespace sotto::serving::log_format
