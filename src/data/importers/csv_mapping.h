#pragma once
// The mapping file of the csv importer: which columns of which files mean what. docs/data-formats.md has an
// example.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/importers/delimited.h"
#include "data/importers/field_values.h"

namespace sotto {

// Columns are names from the first line, or numbers from 1 when the files have no header. Empty: not there.
struct CsvItems {
  std::string file, id, title, text, category, subcategory;
  std::vector<std::string> categories, numbers;  // feature columns
  char list_separator = '|';                     // between several values of one categorical feature
};

struct CsvUsers {
  std::string file, id;
  std::vector<std::string> categories, numbers;
  char list_separator = '|';
};

struct CsvInteractions {
  std::string file, user, item, rating, time;
  TimeFormat time_format = TimeFormat::unix_seconds;
  std::vector<std::string> categories, numbers;  // context columns
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

}  // namespace sotto
