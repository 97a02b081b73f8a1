#include "privacy/ledger/answer_file.h"

#include <xxhash.h>

#include <algorithm>

#include "privacy/ledger/answer_cache.h"
#include "privacy/ledger/byte_codec.h"
#include "privacy/ledger/printable.h"

namespace sotto {
namespace {

constexpr std::string_view magic = "SOTTOANS";
constexpr std::uint32_t version = 1;
constexpr std::size_t max_kind_bytes = 64;

std::uint64_t check_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void write_time(ByteWriter& out, UtcTime time) {
  out.number(static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

Result<UtcTime> read_time(ByteReader& in) {
  const UtcTime time{std::chrono::seconds{static_cast<std::int64_t>(in.number<std::uint64_t>())}};
  SOTTO_CHECK(validate(time));
  return time;
}

Result<StoredAnswer> read_answer(ByteReader& in) {
  StoredAnswer answer;
  SOTTO_TRY(answer.drawn, read_time(in));
  SOTTO_TRY(answer.valid_until, read_time(in));
  if (answer.valid_until <= answer.drawn || answer.valid_until - answer.drawn > std::chrono::days{366}) {
    return bad_input("an answer is valid for up to 366 days, not from {} to {}", to_text(answer.drawn),
                     to_text(answer.valid_until));
  }
  answer.record = in.number<std::uint64_t>();
  const std::string_view paid = in.raw(answer.paid.size());
  std::copy(paid.begin(), paid.end(), answer.paid.begin());
  const auto size = in.number<std::uint32_t>();
  if (size > AnswerCache::max_answer_bytes) return bad_input("an answer of {} bytes is too long", size);
  answer.bytes = in.raw(size);
  return answer;
}

}  // namespace

Status validate_answer_kind(std::string_view kind) {
  if (!kind.empty() && kind.size() <= max_kind_bytes && is_printable(kind)) return {};
  return bad_input("a kind of answer is named by 1 to {} bytes of printable UTF-8, not \"{}\"",
                   max_kind_bytes, printable(kind));
}

std::string encode(const StoredAnswers& answers) {
  ByteWriter out;
  out.raw(magic);
  out.number(version);
  out.number(static_cast<std::uint32_t>(answers.size()));
  for (const auto& [kind, answer] : answers) {
    out.text(kind);
    write_time(out, answer.drawn);
    write_time(out, answer.valid_until);
    out.number(answer.record);
    out.raw(as_text(answer.paid));
    out.number(static_cast<std::uint32_t>(answer.bytes.size()));
    out.raw(answer.bytes);
  }
  out.number(check_of(out.bytes()));
  return std::move(out).take();
}

Result<StoredAnswers> decode_answers(std::string_view bytes) {
  constexpr std::size_t check_bytes = 8;
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + check_bytes) {
    return bad_input("this is not a file of answers");
  }
  const std::string_view checked = bytes.substr(0, bytes.size() - check_bytes);
  if (ByteReader(bytes.substr(checked.size())).number<std::uint64_t>() != check_of(checked)) {
    return bad_input(
        "the file of answers is damaged: delete it, the next answers are drawn and charged anew");
  }
  ByteReader in(checked.substr(magic.size()));
  if (const auto found = in.number<std::uint32_t>(); found != version) {
    return bad_input("the answers have format {}, this program knows format {}", found, version);
  }
  const auto count = in.number<std::uint32_t>();
  if (count > AnswerCache::max_kinds) return bad_input("{} kinds of answers are too many", count);
  StoredAnswers answers;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string kind(in.text());
    SOTTO_CHECK(validate_answer_kind(kind));
    SOTTO_TRY(StoredAnswer answer, read_answer(in));
    if (!answers.empty() && kind <= answers.rbegin()->first) return bad_input("the answers are not in order");
    answers.emplace_hint(answers.end(), std::move(kind), std::move(answer));
  }
  if (!in.complete()) return bad_input("the file of answers is too short or too long for what it says");
  return answers;
}

}  // namespace sotto
