#include "data/importers/csv_table.h"

#include <algorithm>
#include <limits>

#include "base/printable.h"
#include "data/importers/field_values.h"
#include "data/importers/source_folder.h"

namespace sotto {

namespace {
constexpr std::int64_t max_columns = 65'536;
}

Result<CsvTable> CsvTable::open(const fs::path& folder, const std::string& file, const CsvMapping& mapping,
                                ImportReport& report) {
  if (!find_file(folder, file))
    return unexpected_layout(folder, fmt::format("the file {} of the mapping", file));
  SOTTO_TRY(DelimitedReader reader, DelimitedReader::open(folder / file, mapping.format, report));
  CsvTable table(std::move(reader));
  if (mapping.header) {
    SOTTO_TRY(table.header_, Header::read(table.row_));
    table.width_ = table.header_->size();
  }
  return table;
}

Result<CsvColumn> CsvTable::column(const std::string& name) {
  if (name.empty()) return CsvColumn();
  if (header_) return header_->column(name);
  const auto number = parse_integer(name);
  if (!number || *number < 1 || *number > max_columns) {
    return bad_input("column '{}': the files have no header, so columns are numbers from 1",
                     printable(name, 60));
  }
  const auto position = static_cast<std::size_t>(*number - 1);
  needed_width_ = std::max(needed_width_, position + 1);
  return position;
}

Result<std::vector<std::size_t>> CsvTable::columns(const std::vector<std::string>& names) {
  std::vector<std::size_t> positions;
  for (const std::string& name : names) {
    SOTTO_TRY(const CsvColumn position, column(name));
    if (!position) return bad_input("the name of a column is empty");
    positions.push_back(*position);
  }
  return positions;
}

Result<bool> CsvTable::next() {
  while (true) {
    SOTTO_TRY(const bool more, row_.next());
    if (!more) return false;
    if (width_ == 0) width_ = row_.fields().size();
    if (width_ < needed_width_) {
      return bad_input("{}:{}: {} columns, but the mapping uses column {}", row_.path().string(), row_.line(),
                       width_, needed_width_);
    }
    if (row_.has_columns(width_)) return true;
  }
}

Result<CsvFeatures> CsvFeatures::find(CsvTable& table, const std::vector<std::string>& category_names,
                                      const std::vector<std::string>& number_names) {
  CsvFeatures found{category_names, number_names, {}, {}, {}};
  SOTTO_TRY(found.categories, table.columns(category_names));
  SOTTO_TRY(found.numbers, table.columns(number_names));
  return found;
}

bool CsvFeatures::read_numbers(const CsvTable& table) {
  values.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view text = trimmed(table[numbers[i]]);
    const auto value =
        text.empty() ? std::optional(std::numeric_limits<float>::quiet_NaN()) : parse_number(text);
    if (!value) return false;
    values.emplace_back(number_names[i], *value);
  }
  return true;
}

}  // namespace sotto
