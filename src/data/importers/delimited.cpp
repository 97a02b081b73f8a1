#include "data/importers/delimited.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/interrupt.h"
#include "base/settings.h"
#include "base/utf8.h"
#include "data/importers/field_values.h"
#include "data/user_draws.h"

namespace sotto::data {

Result<Header> Header::read(DelimitedReader& reader) {
  SOTTO_TRY(const bool any, reader.next());
  if (!any)
    return bad_input("{}: the file is empty, expected a line with the names of the columns",
                     reader.path().string());
  Header header;
  header.file_ = reader.path().string();
  for (const std::string_view name : reader.fields()) header.names_.emplace_back(trimmed(name));
  return header;
}

Result<std::size_t> Header::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  const auto near = nearest(name, names_);
  return bad_input("{}: there is no column '{}'{}; the first line has: {}", file_, printable(name, 60),
                   near ? fmt::format(", did you mean '{}'?", printable(*near, 60)) : "",
                   printable(fmt::format("{}", fmt::join(names_, ", ")), 400));
}

namespace {

constexpr std::size_t max_record_bytes = std::size_t{16} << 20;
constexpr std::size_t max_fields = 65'536;
constexpr std::uint64_t lines_between_updates = 8192;
constexpr std::uint64_t min_bytes_for_progress = std::uint64_t{4} << 20;  // smaller files are read at once

}  // namespace

void QuotedRecord::reset() {
  text_.clear();
  ends_.clear();
  inside_ = Inside::field_start;
}

QuotedRecord::State QuotedRecord::feed(std::string_view line, std::string_view delimiter) {
  if (inside_ == Inside::quotes) {
    text_.push_back('\n');  // the line break belongs to the field
  } else {
    reset();
  }
  std::size_t at = 0;
  while (at < line.size()) {
    if (inside_ == Inside::quotes) {
      const std::size_t quote = line.find('"', at);
      text_.append(line.substr(at, quote - at));
      if (quote == std::string_view::npos) return State::open;
      inside_ = Inside::after_quote;
      at = quote + 1;
    } else if (inside_ == Inside::after_quote && line[at] == '"') {
      text_.push_back('"');
      inside_ = Inside::quotes;
      ++at;
    } else if (line.compare(at, delimiter.size(), delimiter) == 0) {
      if (ends_.size() >= max_fields) return State::broken;
      ends_.push_back(text_.size());
      inside_ = Inside::field_start;
      at += delimiter.size();
    } else if (inside_ == Inside::after_quote) {
      return State::broken;
    } else if (inside_ == Inside::field_start && line[at] == '"') {
      inside_ = Inside::quotes;
      ++at;
    } else {
      text_.push_back(line[at]);
      inside_ = Inside::plain;
      ++at;
    }
  }
  if (inside_ == Inside::quotes) return State::open;
  ends_.push_back(text_.size());
  return State::complete;
}

void QuotedRecord::fields(std::vector<std::string_view>& out) const {
  out.clear();
  std::size_t start = 0;
  for (const std::size_t end : ends_) {
    out.push_back(std::string_view(text_).substr(start, end - start));
    start = end;
  }
}

DelimitedReader::DelimitedReader(LineReader lines, RowFormat format, ImportReport& report)
    : lines_(std::move(lines)), format_(std::move(format)), report_(&report) {
  std::error_code unknown_size;
  const std::uint64_t size = fs::file_size(lines_.path(), unknown_size);
  if (!unknown_size && size >= min_bytes_for_progress) {
    progress_ =
        std::make_unique<Progress>(fmt::format("reading {}", lines_.path().filename().string()), size, "B");
  }
}

Result<DelimitedReader> DelimitedReader::open(const fs::path& file, RowFormat format, ImportReport& report) {
  if (format.delimiter.empty()) return bad_input("{}: the delimiter is empty", file.string());
  SOTTO_TRY(LineReader lines, LineReader::open(file, max_record_bytes));
  return DelimitedReader(std::move(lines), std::move(format), report);
}

Result<bool> DelimitedReader::next_line(std::string_view& line) {
  SOTTO_TRY(const bool more, lines_.next(line));
  if (!more) return false;
  const std::uint64_t number = lines_.line_number();
  if (number % lines_between_updates == 0) {
    if (progress_) progress_->set(lines_.compressed_bytes_read());
    if (interrupted()) return failed("interrupted while reading {}", path().string());
  }
  if (number == 1) line = without_byte_order_mark(line);
  if (format_.encoding == Encoding::latin1) {
    decoded_.clear();
    append_latin1_as_utf8(line, decoded_);
    line = decoded_;
    decodes_ = true;
  } else {
    decodes_ = is_utf8(line);
  }
  return true;
}

Result<bool> DelimitedReader::next() {
  std::string_view line;
  while (true) {
    SOTTO_TRY(const bool more, next_line(line));
    if (!more) {
      if (progress_) progress_->set(lines_.compressed_bytes_read());
      return false;
    }
    if (line.empty()) continue;
    first_line_ = lines_.line_number();
    if (format_.quoted && line.find('"') != std::string_view::npos) {
      SOTTO_TRY(const bool readable, read_record(line));
      if (readable) return true;
    } else if (!decodes_) {
      malformed("not valid UTF-8");
    } else if (!split_plain(line)) {
      malformed("too many fields");
    } else {
      return true;
    }
  }
}

Result<bool> DelimitedReader::read_record(std::string_view line) {
  record_.reset();
  bool decodable = decodes_;
  auto state = record_.feed(line, format_.delimiter);
  while (state == QuotedRecord::State::open && record_.bytes() <= max_record_bytes) {
    SOTTO_TRY(const bool more, next_line(line));
    if (!more) break;
    decodable = decodable && decodes_;
    state = record_.feed(line, format_.delimiter);
  }
  if (state == QuotedRecord::State::complete && decodable) {
    record_.fields(fields_);
    return true;
  }
  malformed(state == QuotedRecord::State::open     ? "a quoted field is never closed"
            : state == QuotedRecord::State::broken ? "text after a closing quote, or too many fields"
                                                   : "not valid UTF-8");
  // One stray quote can swallow many rows: each line lost counts, so that the limit notices.
  for (std::uint64_t lost = first_line_ + 1; lost <= lines_.line_number(); ++lost) {
    report_->malformed(path(), lost,
                       fmt::format("lost inside the quoted field opened in line {}", first_line_));
  }
  return false;
}

bool DelimitedReader::split_plain(std::string_view line) {
  fields_.clear();
  const std::string_view delimiter = format_.delimiter;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = line.find(delimiter, start);
    if (end == std::string_view::npos) break;
    if (fields_.size() >= max_fields) return false;
    fields_.push_back(line.substr(start, end - start));
    start = end + delimiter.size();
  }
  fields_.push_back(line.substr(start));
  return true;
}

std::uint64_t DelimitedReader::hash() const {
  std::uint64_t hash = 0;
  for (const std::string_view field : fields_) hash = hash_of_text(hash, field);
  return hash;
}

bool DelimitedReader::has_columns(std::size_t columns) {
  if (fields_.size() == columns) return true;
  malformed(fmt::format("{} fields instead of {}", fields_.size(), columns));
  return false;
}

}  // namespace sotto::data
