#include "privacy/ledger/ledger_anchor.h"

#include <xxhash.h>

#include <algorithm>

#include "base/files.h"
#include "privacy/ledger/byte_codec.h"

namespace sotto {
namespace {

constexpr std::string_view magic = "SOTTOANC";
constexpr std::size_t anchor_bytes = 8 + 16 + 8 + 32 + 8;

}  // namespace

std::string encode(const LedgerAnchor& anchor) {
  ByteWriter out;
  out.raw(magic);
  out.raw(as_text(anchor.id));
  out.number(anchor.records);
  out.raw(as_text(anchor.head));
  out.number(static_cast<std::uint64_t>(XXH3_64bits(out.bytes().data(), out.bytes().size())));
  return std::move(out).take();
}

Result<LedgerAnchor> decode_anchor(std::string_view bytes) {
  if (bytes.size() != anchor_bytes || !bytes.starts_with(magic)) return bad_input("this is not an anchor");
  ByteReader in(bytes.substr(magic.size()));
  LedgerAnchor anchor;
  std::copy_n(in.raw(anchor.id.size()).begin(), anchor.id.size(), anchor.id.begin());
  anchor.records = in.number<std::uint64_t>();
  std::copy_n(in.raw(anchor.head.size()).begin(), anchor.head.size(), anchor.head.begin());
  if (in.number<std::uint64_t>() != XXH3_64bits(bytes.data(), anchor_bytes - 8)) {
    return bad_input("the anchor is damaged: restore it from a backup");
  }
  return anchor;
}

Status write_anchor(const fs::path& path, const LedgerAnchor& anchor) {
  return write_file_atomically(path, encode(anchor));
}

Result<LedgerAnchor> read_anchor(const fs::path& path) {
  SOTTO_TRY(const std::string bytes, read_file(path, 4096));
  auto anchor = decode_anchor(bytes);
  if (!anchor) return tl::unexpected(std::move(anchor).error().in(path.string()));
  return anchor;
}

Status check_anchor(const LedgerAnchor& anchor, const journal_format::LedgerId& id,
                    std::span<const ChainHash> hashes) {
  if (anchor.id != id) return bad_input("the anchor belongs to another ledger: give the one of this ledger");
  if (anchor.records > hashes.size()) {
    return bad_input(
        "the ledger was rolled back: its anchor saw {} records, {} are there. What was charged since is "
        "missing; restore the newest copy of the ledger",
        anchor.records, hashes.size());
  }
  if (anchor.records == 0 || hashes[anchor.records - 1] != anchor.head) {
    return bad_input(
        "the ledger was rolled back and continued: record {} is not the one its anchor saw. Restore the "
        "newest copy of the ledger",
        anchor.records);
  }
  return {};
}

}  // namespace sotto
