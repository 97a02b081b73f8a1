#pragma once
// What a ledger remembers, as bytes: settings that come into force, charges, and windows that are closed
// because nobody knows what was told in them. One record has exactly one encoding. Decoding checks everything
// that can be checked without the records before it.

#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "base/append_log.h"
#include "privacy/ledger/charge.h"

namespace sotto::privacy {

struct SettingsRecord {
  Moment when;
  LedgerSettings settings;
};
struct ChargeRecord {
  Moment when;
  Charge charge;
};

enum class ClosingReason : std::uint8_t {
  clock_mended,  // the owner set the ledger's clock: days and months
  past_unknown,  // records may be missing: the lifetime too
};
// The windows around that moment and the ones after them count as spent: real time may be at any point of
// them.
struct ClosingRecord {
  Moment when;
  ClosingReason reason = ClosingReason::past_unknown;
};
using LedgerRecord = std::variant<SettingsRecord, ChargeRecord, ClosingRecord>;

std::string encode(const SettingsRecord& record);
std::string encode(const ChargeRecord& record);
std::string encode(const ClosingRecord& record);
std::string encode(const LedgerRecord& record);
Result<LedgerRecord> decode_record(std::string_view bytes);

// The file: one record per frame, opened by the ledger's id.
using LedgerId = std::array<unsigned char, 16>;
extern const LogFormat ledger_format;

// An unsampled event; also serves as the name of a kind of event.
std::string encode(const PrivacyEvent& event);

}  // namespace sotto::privacy
