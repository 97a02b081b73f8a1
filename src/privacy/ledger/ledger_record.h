#pragma once
// The two things a ledger remembers, as bytes: settings that come into force, and charges. One record has
// exactly one encoding. Decoding checks everything that can be checked without the records before it.

#include <string>
#include <string_view>
#include <variant>

#include "privacy/ledger/charge.h"

namespace sotto {

struct SettingsRecord {
  UtcTime time;
  LedgerSettings settings;
};
struct ChargeRecord {
  UtcTime time;
  Charge charge;
};
using LedgerRecord = std::variant<SettingsRecord, ChargeRecord>;

std::string encode(const SettingsRecord& record);
std::string encode(const ChargeRecord& record);
std::string encode(const LedgerRecord& record);
Result<LedgerRecord> decode_record(std::string_view bytes);

// An unsampled event; also serves as the name of a kind of event.
std::string encode(const PrivacyEvent& event);

}  // namespace sotto
