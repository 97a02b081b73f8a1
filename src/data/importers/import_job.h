#pragma once
// What one run of an importer shares with its parts.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/import_report.h"
#include "data/importers/importers.h"

namespace sotto {

// Lives as long as one import; the settings must outlive it. Not thread-safe.
struct ImportJob {
  ImportJob(const ImportSettings& import_settings, std::string how_made)
      : settings(import_settings),
        report(ImportOptions{.malformed_limit = import_settings.malformed_limit}),
        origin(std::move(how_made)) {}

  const ImportSettings& settings;
  ImportReport report;
  std::string origin;  // for the data set: importer, source and the settings that differ from the defaults
  std::vector<std::string> notes;

  void note(std::string_view text) { notes.emplace_back(text); }
  // Only when there is something to tell: "1,234 impressions ...".
  void note_count(std::uint64_t count, std::string_view what);
};

// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t count);

}  // namespace sotto
