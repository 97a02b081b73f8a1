#pragma once
// A small note of how far a ledger has come, kept where deleting or restoring the ledger does not reach it.
//
// A ledger that was replaced by an older copy of itself looks perfectly well, and one that was deleted looks
// like none that ever was: only something outside can tell. The anchor is stored after each record, so after
// a crash or on a full disk the ledger may be one record ahead of it, never behind.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/chain_hash.h"
#include "privacy/ledger/ledger_record.h"

namespace sotto::privacy {

// Where a host keeps the anchor of its ledger: a key store, an account, a partition of its own. Called by one
// thread at a time.
class AnchorStore {
 public:
  virtual ~AnchorStore() = default;
  // What was stored last; none: nothing ever was.
  virtual Result<std::optional<std::string>> load() = 0;
  // Durable when it returns. At most 100 bytes.
  virtual Status store(std::string_view anchor) = 0;
};
// In a file, where there is nothing better: best on another disk than the ledger.
std::shared_ptr<AnchorStore> anchor_file(const std::filesystem::path& path);

struct LedgerAnchor {
  LedgerId id{};
  std::uint64_t records = 0;
  ChainHash head{};
  UtcTime latest;  // of its clock
};

std::string encode(const LedgerAnchor& anchor);
Result<LedgerAnchor> decode_anchor(std::string_view bytes);

// Does the ledger continue what the anchor saw? hashes: one per record of the ledger.
Status check_anchor(const LedgerAnchor& anchor, const LedgerId& id, std::span<const ChainHash> hashes);

}  // namespace sotto::privacy
