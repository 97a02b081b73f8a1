#include "privacy/ledger/ledger_anchor.h"

#include <xxhash.h>

#include <algorithm>

#include "base/byte_codec.h"
#include "base/files.h"

namespace sotto::privacy {
namespace {

constexpr std::string_view anchor_magic = "SOTTOANC";
constexpr std::size_t anchor_bytes = 8 + 16 + 8 + 32 + 8 + 8;
constexpr std::uint64_t most_file_bytes = 4096;

class AnchorFile final : public AnchorStore {
 public:
  explicit AnchorFile(fs::path path) : path_(std::move(path)) {}
  Result<std::optional<std::string>> load() override {
    std::error_code unreadable;
    if (!fs::exists(path_, unreadable) && !unreadable) return std::nullopt;
    SOTTO_TRY(std::string bytes, read_file(path_, most_file_bytes));
    return bytes;
  }
  Status store(std::string_view anchor) override {
    return write_file_atomically(path_, anchor, FileReaders::owner);
  }

 private:
  fs::path path_;
};

}  // namespace

std::string encode(const LedgerAnchor& anchor) {
  ByteWriter out;
  out.raw(anchor_magic);
  out.raw(as_text(anchor.id));
  out.number(anchor.records);
  out.raw(as_text(anchor.head));
  out.number(static_cast<std::uint64_t>(anchor.latest.time_since_epoch().count()));
  out.number(static_cast<std::uint64_t>(XXH3_64bits(out.bytes().data(), out.bytes().size())));
  return std::move(out).take();
}

Result<LedgerAnchor> decode_anchor(std::string_view bytes) {
  if (bytes.size() != anchor_bytes || !bytes.starts_with(anchor_magic))
    return bad_input("this is not an anchor");
  ByteReader in(bytes.substr(anchor_magic.size()));
  LedgerAnchor anchor;
  std::copy_n(in.raw(anchor.id.size()).begin(), anchor.id.size(), anchor.id.begin());
  anchor.records = in.number<std::uint64_t>();
  std::copy_n(in.raw(anchor.head.size()).begin(), anchor.head.size(), anchor.head.begin());
  anchor.latest = UtcTime{std::chrono::seconds{static_cast<std::int64_t>(in.number<std::uint64_t>())}};
  if (in.number<std::uint64_t>() != XXH3_64bits(bytes.data(), anchor_bytes - 8)) {
    return bad_input("the anchor is damaged: restore it from a backup");
  }
  SOTTO_CHECK(validate(anchor.latest));
  return anchor;
}

std::shared_ptr<AnchorStore> anchor_file(const fs::path& path) { return std::make_shared<AnchorFile>(path); }

Status check_anchor(const LedgerAnchor& anchor, const LedgerId& id, std::span<const ChainHash> hashes) {
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

}  // namespace sotto::privacy
