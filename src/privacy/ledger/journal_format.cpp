#include "privacy/ledger/journal_format.h"

#include <xxhash.h>

#include <algorithm>

#include "privacy/ledger/byte_codec.h"

namespace sotto::journal_format {
namespace {

constexpr std::string_view magic = "SOTTOLED";
constexpr std::uint32_t version = 1;
constexpr std::size_t hash_bytes = std::tuple_size_v<ChainHash>;

std::uint64_t check_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string frame_head(std::uint32_t length, const ChainHash& before) {
  ByteWriter checked;
  checked.number(length);
  checked.raw(as_text(before));
  ByteWriter head;
  head.number(length);
  head.number(check_of(checked.bytes()));
  return std::move(head).take();
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

tl::unexpected<Error> damaged(std::size_t record) {
  return bad_input(
      "the ledger is damaged at record {}: a byte was changed, or a record was removed, in what was already "
      "written. Nothing can be sent on its account; restore the file from a backup, or begin a new ledger "
      "and take its budget from what this one had left",
      record);
}

Result<LedgerId> parse_header(std::string_view file) {
  if (file.substr(0, magic.size()) != magic) return bad_input("this is not a ledger file");
  if (file.size() < header_bytes) {
    return bad_input("the ledger is cut off inside its header: restore the file from a backup");
  }
  ByteReader in(file.substr(magic.size(), header_bytes - magic.size()));
  const auto found = in.number<std::uint32_t>();
  const auto reserved = in.number<std::uint32_t>();
  LedgerId id;
  std::copy_n(in.raw(id.size()).begin(), id.size(), id.begin());
  if (in.number<std::uint64_t>() != check_of(file.substr(0, header_bytes - 8))) {
    return bad_input("the header of the ledger is damaged: restore the file from a backup");
  }
  if (found != version || reserved != 0) {
    return bad_input("the ledger has format {}, this program knows format {}", found, version);
  }
  return id;
}

}  // namespace

std::string encode_header(const LedgerId& id) {
  ByteWriter out;
  out.raw(magic);
  out.number(version);
  out.number(std::uint32_t{0});
  out.raw(as_text(id));
  out.number(check_of(out.bytes()));
  return std::move(out).take();
}

Result<ChainHash> hash_of_header(std::string_view header) { return chain_hash({header}); }

Result<Frame> encode_frame(std::string_view body, const ChainHash& before) {
  if (body.empty() || body.size() > max_body_bytes) {
    return failed("a ledger record of {} bytes cannot be written", body.size());
  }
  Frame frame;
  frame.bytes = frame_head(static_cast<std::uint32_t>(body.size()), before);
  SOTTO_TRY(frame.hash, chain_hash({as_text(before), frame.bytes, body}));
  frame.bytes += body;
  frame.bytes += as_text(frame.hash);
  return frame;
}

Result<Journal> parse(std::string_view file) {
  Journal journal;
  SOTTO_TRY(journal.id, parse_header(file));
  SOTTO_TRY(ChainHash before, hash_of_header(file.substr(0, header_bytes)));
  std::string_view rest = file.substr(header_bytes);
  while (!rest.empty()) {
    const std::size_t number = journal.bodies.size() + 1;
    if (rest.size() < frame_head_bytes) break;
    const std::string_view head = rest.substr(0, frame_head_bytes);
    const auto length = ByteReader(head).number<std::uint32_t>();
    if (head != frame_head(length, before)) {
      if (all_zero(rest.substr(frame_head_bytes))) break;
      return damaged(number);
    }
    if (length == 0 || length > max_body_bytes) return damaged(number);
    const std::size_t total = frame_head_bytes + length + hash_bytes;
    if (rest.size() < total) break;
    const std::string_view body = rest.substr(frame_head_bytes, length);
    const std::string_view stored = rest.substr(frame_head_bytes + length, hash_bytes);
    SOTTO_TRY(const ChainHash hash, chain_hash({as_text(before), head, body}));
    if (stored != as_text(hash)) {
      if (rest.size() == total && all_zero(stored)) break;
      return damaged(number);
    }
    journal.bodies.push_back(body);
    journal.hashes.push_back(hash);
    before = hash;
    rest.remove_prefix(total);
  }
  journal.torn_bytes = rest.size();
  journal.complete_bytes = file.size() - rest.size();
  if (journal.bodies.empty()) {
    return bad_input(
        "the ledger is cut off before the end of its first record: restore the file from a backup");
  }
  return journal;
}

}  // namespace sotto::journal_format
