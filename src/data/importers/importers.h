#pragma once
// Importers: published data sets in their own file formats become a Dataset. docs/data-formats.md describes
// each layout. One table lists them all; import_dataset() runs one and writes the result all at once or not
// at all.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/settings.h"
#include "data/dataset.h"
#include "data/dataset_builder.h"
#include "data/views.h"

namespace sotto::data {

struct ImportJob;  // import_job.h

struct ImportSettings : ViewSettings {
  double malformed_limit = 0.01;
  bool replace = false;
  std::string test_from = "last-day";
  double validation_share = 0;
  std::int64_t items = 0;
  std::string protocol = "fednewsrec";
  std::string view = "none";  // or one of view_names
  std::string mapping;

  void bind(SettingsTable& table);
};

struct ImportSummary {
  std::string name;  // of the data set, for example "MIND"
  DatasetCounts counts{};
  std::uint64_t rows = 0;                       // read, malformed ones included
  std::uint64_t malformed_rows = 0;             // left out
  std::vector<std::string> malformed_examples;  // at most five, "file:line: reason"
  std::vector<std::string> notes;               // what the reader of the data should know
};

struct Importer {
  std::string_view kind;
  std::string_view help;
  // Reads everything into a builder; writes nothing.
  Result<DatasetBuilder> (*read)(const fs::path& source, ImportJob& job);
  // The settings it looks at besides malformed_limit, replace, seed and those of views.
  std::span<const std::string_view> settings;
  // Published in parts, of which the list of items alone is one; else a source without anybody's behaviour is
  // a mistake.
  bool has_parts_without_behaviour = false;
};

std::span<const Importer> importers();

// Imports `source` as `kind` and makes the data set appear at `out`. An unknown kind, a setting that the kind
// does not have, an existing non-empty `out` (unless settings.replace), or too many malformed rows is an
// error, and then nothing is left behind.
Result<ImportSummary> import_dataset(std::string_view kind, const fs::path& source, const fs::path& out,
                                     const ImportSettings& settings);
// The same by an importer that need not be in the table.
Result<ImportSummary> import_dataset(const Importer& importer, const fs::path& source, const fs::path& out,
                                     const ImportSettings& settings);

// One entry per published format.
Result<DatasetBuilder> read_mind(const fs::path& source, ImportJob& job);
Result<DatasetBuilder> read_adressa(const fs::path& source, ImportJob& job);
Result<DatasetBuilder> read_movielens(const fs::path& source, ImportJob& job);
Result<DatasetBuilder> read_frappe(const fs::path& source, ImportJob& job);
Result<DatasetBuilder> read_globo(const fs::path& source, ImportJob& job);
Result<DatasetBuilder> read_lists(const fs::path& source, ImportJob& job);
Result<DatasetBuilder> read_csv(const fs::path& source, ImportJob& job);

}  // namespace sotto::data
