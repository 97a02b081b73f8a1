#pragma once
// Rows of a delimited text file (tab, comma, "::", "|"), decompressed and decoded while reading; columns
// found by the names in its header.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/progress.h"
#include "base/result.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"

namespace sotto::data {

struct RowFormat {
  std::string delimiter = "\t";  // at least one character
  bool quoted = false;           // RFC 4180: "a, ""b""" is one field and may span lines
  Encoding encoding = Encoding::utf8;
};

// Splits one record of RFC 4180 that arrives line by line. Owns the unescaped fields.
class QuotedRecord {
 public:
  enum class State { complete, open, broken };  // open: a quoted field goes on in the next line

  // `line` starts a new record unless the state is open.
  State feed(std::string_view line, std::string_view delimiter);
  // The fields of a complete record; views live until the next feed().
  void fields(std::vector<std::string_view>& out) const;
  std::size_t bytes() const { return text_.size(); }
  void reset();

 private:
  enum class Inside { field_start, plain, quotes, after_quote };
  std::string text_;
  std::vector<std::size_t> ends_;
  Inside inside_ = Inside::field_start;
};

// One pass over one file. Blank lines are passed over. Rows that cannot be decoded (bad UTF-8, a quote that
// never closes, too many fields) are counted as malformed in the report, one per line lost, and passed over
// too; what is wrong with the values is for the caller to say, by good() or malformed() once per row. The
// report must outlive the reader. Shows progress; stops with an error on Ctrl-C. Not thread-safe.
class DelimitedReader {
 public:
  // Also opens `file` + .xz, .gz or .zst.
  static Result<DelimitedReader> open(const fs::path& file, RowFormat format, ImportReport& report);

  // False at the end.
  Result<bool> next();
  // Of the row last returned; views live until the next call of next().
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::string_view field(std::size_t column) const { return fields_[column]; }
  std::uint64_t line() const { return first_line_; }
  std::uint64_t hash() const;  // of all fields: the same wherever the row stands
  const fs::path& path() const { return lines_.path(); }

  void good() { report_->good(); }
  void malformed(std::string_view reason) { report_->malformed(path(), first_line_, reason); }
  // True when the row has exactly `columns` fields; counts it as malformed otherwise.
  bool has_columns(std::size_t columns);

 private:
  DelimitedReader(LineReader lines, RowFormat format, ImportReport& report);
  Result<bool> next_line(std::string_view& line);
  Result<bool> read_record(std::string_view line);  // false: malformed, already counted
  bool split_plain(std::string_view line);

  LineReader lines_;
  RowFormat format_;
  ImportReport* report_;
  std::unique_ptr<Progress> progress_;
  std::string decoded_;
  bool decodes_ = true;  // the line last read is valid in its encoding
  QuotedRecord record_;
  std::vector<std::string_view> fields_;
  std::uint64_t first_line_ = 0;
};

// The header's names in order. Keep it beside the reader whose first row it took. A value.
class Header {
 public:
  // Takes the first row of the file.
  static Result<Header> read(DelimitedReader& reader);

  // The position of a column; an error names the columns there are and the nearest one.
  Result<std::size_t> column(std::string_view name) const;
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::string file_;
};

}  // namespace sotto::data
