#pragma once
// Documents that somebody signs. Each has one encoding: what is read is written back byte for byte the same,
// so a document has one hash and nobody can show two that say the same.
//
//   magic (8 bytes), version (2), length of the body (4), body, Ed25519 signature over the hash (64)
//
// The hash is of a label that names kind and version, and of the body. Little-endian. Pure functions.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_codec.h"
#include "base/result.h"
#include "privacy/ledger/ledger_clock.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/key_exchange.h"

namespace sotto::rounds {

using privacy::UtcTime;
using secagg::Digest;
using secagg::Identity;
using secagg::IdentityKey;
using secagg::Signature;
using secagg::verify;

struct DocumentKind {
  std::string_view what;   // "campaign", for messages
  std::string_view magic;  // 8 bytes
  std::uint16_t version = 1;
  std::string_view label;  // of the hash
  std::size_t most_bytes = 0;
};

struct SignedDocument {
  std::string body;
  Digest hash{};
  Signature signature{};
};

Digest hash_of_body(const DocumentKind& kind, std::string_view body);
std::string sign_document(const DocumentKind& kind, std::string_view body, const Identity& signer);
// The frame alone: whether the body says something sensible and who signed it is not looked at.
Result<SignedDocument> read_document(const DocumentKind& kind, std::string_view bytes);
bool is_document(const DocumentKind& kind, std::string_view bytes);  // by its magic

secagg::ByteView as_bytes(std::string_view text);
// 64 hexadecimal digits, lower case. `what` is named in the refusal.
Result<Digest> digest_from_hex(std::string_view text, std::string_view what);

// The fields of a body, by the same list for writing and for reading:
//
//   template <class Fields, class Order>
//   void visit_order(Fields& fields, Order& order) { fields.number(order.number); }
class FieldWriter {
 public:
  void number(std::uint64_t value) { writer_.number(value); }
  void real(double value) { writer_.real(value); }
  void flag(bool value) { writer_.number(static_cast<std::uint8_t>(value)); }
  void text(const std::string& value) { writer_.text(value); }
  void blob(std::string_view value) { writer_.text(value); }  // any bytes, at most 65,535
  void long_blob(std::string_view value) { writer_.long_text(value); }
  void time(UtcTime value) { number(static_cast<std::uint64_t>(value.time_since_epoch().count())); }
  template <std::size_t N>
  void bytes(const std::array<std::uint8_t, N>& value) {
    writer_.raw({reinterpret_cast<const char*>(value.data()), N});
  }
  template <class Choice>
  void choice(Choice value, Choice, Choice) {
    writer_.number(static_cast<std::uint8_t>(value));
  }
  template <class List, class Each>
  void list(List& values, std::size_t, Each each) {
    writer_.number(static_cast<std::uint16_t>(values.size()));
    for (auto& value : values) each(*this, value);
  }
  template <class Value, class Each>
  void optional(const std::optional<Value>& value, Each each) {
    flag(value.has_value());
    if (value) each(*this, *value);
  }
  // The end of a body: nothing at all where there is no value, or the mark is not set.
  template <class Value, class Each>
  void last(const std::optional<Value>& value, Each each) {
    if (value) each(*this, *value);
  }
  void last_mark(bool value) {
    if (value) flag(true);
  }
  const std::string& written() const { return writer_.bytes(); }
  std::string take() && { return std::move(writer_).take(); }

 private:
  ByteWriter writer_;
};

// Refuses what a writer does not write of a value that makes sense: numbers that are not finite, negative
// zero, texts that are not printable, unknown choices, lists that are too long, bytes that are left.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : reader_(bytes) {}

  void number(std::uint64_t& value) { value = reader_.number<std::uint64_t>(); }
  void real(double& value);
  void flag(bool& value);
  void text(std::string& value);
  void blob(std::string& value) { value = reader_.text(); }
  void long_blob(std::string& value) { value = reader_.long_text(); }
  void time(UtcTime& value);
  template <std::size_t N>
  void bytes(std::array<std::uint8_t, N>& value) {
    const std::string_view raw = reader_.raw(N);
    for (std::size_t i = 0; i < raw.size(); ++i) value[i] = static_cast<std::uint8_t>(raw[i]);
  }
  template <class Choice>
  void choice(Choice& value, Choice first, Choice last) {
    const auto number = reader_.number<std::uint8_t>();
    if (number < static_cast<std::uint8_t>(first) || number > static_cast<std::uint8_t>(last))
      wrong("a choice that does not exist");
    else
      value = static_cast<Choice>(number);
  }
  template <class List, class Each>
  void list(List& values, std::size_t most, Each each) {
    const std::size_t count = reader_.number<std::uint16_t>();
    if (count > most) return wrong("a list that is too long");
    values.clear();
    for (std::size_t i = 0; i < count && reader_.good(); ++i) {
      values.emplace_back();
      each(*this, values.back());
    }
  }
  template <class Value, class Each>
  void optional(std::optional<Value>& value, Each each) {
    bool there = false;
    flag(there);
    value.reset();
    if (there) each(*this, value.emplace());
  }
  template <class Value, class Each>
  void last(std::optional<Value>& value, Each each) {
    value.reset();
    if (reader_.good() && reader_.left() > 0) each(*this, value.emplace());
  }
  void last_mark(bool& value) {
    value = reader_.good() && reader_.left() > 0;
    if (!value) return;
    flag(value);
    if (!value) wrong("a mark that says nothing");
  }
  Status finish(std::string_view what) const;

 private:
  void wrong(std::string_view why) {
    if (wrong_.empty()) wrong_ = why;
  }
  ByteReader reader_;
  std::string_view wrong_;
};

}  // namespace sotto::rounds
