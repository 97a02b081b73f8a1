#include "rounds/document.h"

#include <cmath>

#include "base/utf8.h"
#include "secagg/shared/field_hash.h"

namespace sotto::rounds {

namespace {

constexpr std::size_t frame_bytes = 8 + 2 + 4 + 64;

}  // namespace

secagg::ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Digest hash_of_body(const DocumentKind& kind, std::string_view body) {
  return secagg::FieldHash(kind.label).bytes(as_bytes(body)).finish();
}

std::string sign_document(const DocumentKind& kind, std::string_view body, const Identity& signer) {
  const Signature signature = signer.sign(hash_of_body(kind, body));
  ByteWriter writer;
  writer.raw(kind.magic);
  writer.number(kind.version);
  writer.long_text(body);
  writer.raw({reinterpret_cast<const char*>(signature.data()), signature.size()});
  return std::move(writer).take();
}

bool is_document(const DocumentKind& kind, std::string_view bytes) { return bytes.starts_with(kind.magic); }

Result<SignedDocument> read_document(const DocumentKind& kind, std::string_view bytes) {
  if (bytes.size() > kind.most_bytes + frame_bytes)
    return bad_input("a {} of {} bytes: at most {} are possible", kind.what, bytes.size(),
                     kind.most_bytes + frame_bytes);
  if (!is_document(kind, bytes)) return bad_input("these bytes are no signed {}", kind.what);
  ByteReader reader(bytes);
  reader.raw(kind.magic.size());
  const auto version = reader.number<std::uint16_t>();
  if (reader.good() && version != kind.version)
    return bad_input("a {} of version {}: this program reads version {}", kind.what, version, kind.version);
  SignedDocument document;
  document.body = reader.long_text();
  const std::string_view signature = reader.raw(document.signature.size());
  if (!reader.complete()) return bad_input("the {} is cut off or has bytes behind its end", kind.what);
  for (std::size_t i = 0; i < signature.size(); ++i)
    document.signature[i] = static_cast<std::uint8_t>(signature[i]);
  document.hash = hash_of_body(kind, document.body);
  return document;
}

Result<Digest> digest_from_hex(std::string_view text, std::string_view what) {
  Digest digest{};
  const auto digit = [](char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return -1;
  };
  bool good = text.size() == 2 * digest.size();
  for (std::size_t i = 0; good && i < digest.size(); ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    if (good) digest[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  if (!good)
    return bad_input("{} is '{}', must be 64 hexadecimal digits in lower case", what, printable(text));
  return digest;
}

void FieldReader::real(double& value) {
  value = reader_.real();
  if (!std::isfinite(value)) wrong("a number that is not finite");
  if (value == 0 && std::signbit(value)) wrong("a negative zero");
}

void FieldReader::flag(bool& value) {
  const auto number = reader_.number<std::uint8_t>();
  if (number > 1) wrong("an answer that is neither yes nor no");
  value = number == 1;
}

void FieldReader::text(std::string& value) {
  value = reader_.text();
  if (!is_printable(value)) wrong("a text that is not printable UTF-8");
}

void FieldReader::time(UtcTime& value) {
  std::uint64_t seconds = 0;
  number(seconds);
  constexpr std::uint64_t end_of_9999 = 253'402'300'799;
  if (seconds > end_of_9999) return wrong("a time beyond the year 9999");
  value = UtcTime(std::chrono::seconds(seconds));
}

Status FieldReader::finish(std::string_view what) const {
  if (!reader_.complete()) return bad_input("the {} is cut off or has bytes behind its end", what);
  if (!wrong_.empty()) return bad_input("the {} holds {}", what, wrong_);
  return {};
}

}  // namespace sotto::rounds
