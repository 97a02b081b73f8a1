#pragma once
// What one run of an importer shares with its parts.

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/importers/importers.h"

namespace sotto::data {

// Finding the files of a published data set, and saying what is there when they are not.

// folder/name, plain or compressed.
std::optional<fs::path> find_file(const fs::path& folder, std::string_view name);

// Names of the entries of a folder, sorted; empty when it is not a folder.
std::vector<std::string> folder_entries(const fs::path& folder);

// "news.tsv.xz" -> "news.tsv".
std::string_view without_compression_suffix(std::string_view name);

// The files of a folder whose name without compression suffix is `wanted`, sorted; of a file that is there
// both plain and compressed, only one.
std::vector<fs::path> files_named(const fs::path& folder, bool (*wanted)(std::string_view name));

// The error for a source without the files of its kind: what was expected, and what is there.
tl::unexpected<Error> unexpected_layout(const fs::path& source, std::string_view expected);

// Counts malformed rows during an import: the first five are shown with file and line, and the import fails
// when their share exceeds a threshold.
struct ImportOptions {
  double malformed_limit = 0.01;  // share of rows
};

class ImportReport {
 public:
  explicit ImportReport(const ImportOptions& options) : options_(options) {}
  void good() { ++rows_; }
  void malformed(const fs::path& file, std::uint64_t line, std::string_view reason);
  std::uint64_t rows() const { return rows_; }
  std::uint64_t malformed_rows() const { return malformed_; }
  const std::vector<std::string>& examples() const { return examples_; }
  // Error above the threshold; to be called after each file and before anything is written.
  Status check() const;

 private:
  ImportOptions options_;
  std::uint64_t rows_ = 0, malformed_ = 0;
  std::vector<std::string> examples_;
};

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

}  // namespace sotto::data
