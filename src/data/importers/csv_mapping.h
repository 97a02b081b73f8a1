#pragma once
// The mapping file of the csv importer: which columns of which files mean what. docs/data-formats.md has an
// example.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/importers/delimited.h"
#include "data/importers/field_values.h"

namespace sotto::data {

// Columns are names from the first line, or numbers from 1 when the files have no header. Empty: not there.
struct CsvItems {
  std::string file, id, title, text, category, subcategory;
  std::vector<std::string> categories, numbers;  // feature columns
  char list_separator = '|';                     // between several values of one categorical feature
};

// The values that a categorical column can have, as a list that is public whoever the users are.
struct CsvVocabulary {
  std::string column;
  std::vector<std::string> values;
};

struct CsvUsers {
  std::string file, id;
  std::vector<std::string> categories, numbers;
  std::vector<CsvVocabulary> vocabularies;
  char list_separator = '|';
};

struct CsvInteractions {
  std::string file, user, item, rating, time;
  TimeFormat time_format = TimeFormat::unix_seconds;
  std::vector<std::string> categories, numbers;  // context columns
  std::vector<CsvVocabulary> vocabularies;
};

struct CsvImpressions {
  std::string file, user, time, shown, clicked, history, split;
  TimeFormat time_format = TimeFormat::unix_seconds;
  char list_separator = ' ';  // between item ids
};

struct CsvMapping {
  std::string name = "csv";
  RowFormat format = {",", true, Encoding::utf8};
  bool header = true;
  std::optional<CsvItems> items;
  std::optional<CsvUsers> users;
  std::optional<CsvInteractions> interactions;
  std::optional<CsvImpressions> impressions;
};

// Unknown keys name the nearest valid one; required keys and at least one kind of behaviour must be there.
Result<CsvMapping> load_csv_mapping(const fs::path& file);
Result<CsvMapping> parse_csv_mapping(std::string_view toml, std::string_view file_name);

// One file of a csv import with the columns of its mapping looked up.
using CsvColumn = std::optional<std::size_t>;  // nothing: the mapping does not name it

// Look up all columns, then read rows. Rows of another width than the first line are malformed. The report
// must outlive it. Not thread-safe.
class CsvTable {
 public:
  static Result<CsvTable> open(const fs::path& folder, const std::string& file, const CsvMapping& mapping,
                               ImportReport& report);

  // Nothing for an empty name.
  Result<CsvColumn> column(const std::string& name);
  Result<std::vector<std::size_t>> columns(const std::vector<std::string>& names);

  // False at the end.
  Result<bool> next();
  // A field of the row; "" for a column that the mapping does not name.
  std::string_view operator[](CsvColumn column) const {
    return column ? row_.field(*column) : std::string_view();
  }
  DelimitedReader& row() { return row_; }

 private:
  explicit CsvTable(DelimitedReader reader) : row_(std::move(reader)) {}
  DelimitedReader row_;
  std::optional<Header> header_;
  std::size_t width_ = 0, needed_width_ = 0;
};

// The feature columns of items, users or interactions.
struct CsvFeatures {
  std::vector<std::string> category_names, number_names;
  std::vector<std::size_t> categories, numbers;
  std::vector<std::pair<std::string_view, float>> values;  // of the current row; the names are number_names

  static Result<CsvFeatures> find(CsvTable& table, const std::vector<std::string>& category_names,
                                  const std::vector<std::string>& number_names);
  // False when a number is neither empty (missing, NaN) nor readable.
  bool read_numbers(const CsvTable& table);
};

}  // namespace sotto::data
