#pragma once
// A small note of how far a ledger has come, kept beside it or, better, elsewhere.
//
// A ledger that was replaced by an older copy of itself looks perfectly well: only something outside can
// tell. The anchor is written after each record, so after a crash the ledger may be ahead of it, never
// behind.

#include <filesystem>
#include <span>

#include "privacy/ledger/journal_format.h"

namespace sotto {

struct LedgerAnchor {
  journal_format::LedgerId id{};
  std::uint64_t records = 0;
  ChainHash head{};
};

std::string encode(const LedgerAnchor& anchor);
Result<LedgerAnchor> decode_anchor(std::string_view bytes);

Status write_anchor(const std::filesystem::path& path, const LedgerAnchor& anchor);
Result<LedgerAnchor> read_anchor(const std::filesystem::path& path);

// Does the ledger continue what the anchor saw? hashes: one per record of the ledger.
Status check_anchor(const LedgerAnchor& anchor, const journal_format::LedgerId& id,
                    std::span<const ChainHash> hashes);

}  // namespace sotto
