#pragma once
// A device's ledger: from its settings, and following the categories of the packs it installs.

#include "base/files.h"
#include "device/sdk/device_settings.h"
#include "privacy/ledger/ledger.h"

namespace sotto::device {

// Items without a category count as this one, which is always sensitive.
inline constexpr std::string_view uncategorised = "uncategorised";

// `known`: categories that the ledger has already; those of the pack come behind them.
Result<privacy::LedgerSettings> ledger_settings(const DeviceSettings& settings,
                                                std::vector<std::string> known,
                                                const std::vector<std::string>& pack_categories);

Result<privacy::Ledger> open_ledger(const fs::path& path, const DeviceSettings& settings,
                                    const privacy::ClockReading& now, const privacy::LedgerOptions& options);
// Records what changed, if anything did.
Status follow(privacy::Ledger& ledger, const DeviceSettings& settings,
              const std::vector<std::string>& pack_categories, const privacy::ClockReading& now);

// When in a period this device asks: spread over all devices, fixed for each, unrelated to its history.
std::chrono::seconds phase_of(const privacy::Ledger& ledger, std::chrono::seconds period);

}  // namespace sotto::device
