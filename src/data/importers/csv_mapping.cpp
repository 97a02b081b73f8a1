#include "data/importers/csv_mapping.h"

#include <algorithm>
#include <limits>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/settings.h"
#include "base/toml_text.h"
#include "base/utf8.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"

namespace sotto::data {

namespace {

constexpr std::uint64_t max_mapping_bytes = 1 << 20;

// One table of the file. Reads each key once; refuse_unknown() then finds what nobody asked for.
class Section {
 public:
  Section(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {}

  Status text(std::string key, std::string& target) {
    known_.push_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return {};
    if (const auto value = node->value_exact<std::string>()) {
      target = *value;
    } else if (const auto number = node->value_exact<std::int64_t>()) {
      target = std::to_string(*number);  // columns of files without a header
    } else {
      return bad_input("{}.{} must be a text", where_, key);
    }
    return {};
  }
  Status required(const std::string& key, std::string& target) {
    SOTTO_CHECK(text(key, target));
    if (target.empty()) return bad_input("{}.{} is missing", where_, key);
    return {};
  }
  Status flag(std::string key, bool& target) {
    known_.push_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return {};
    const auto value = node->value_exact<bool>();
    if (!value) return bad_input("{}.{} must be true or false", where_, key);
    target = *value;
    return {};
  }
  Status texts(std::string key, std::vector<std::string>& target, std::string_view of_what = "columns") {
    known_.push_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return {};
    const toml::array* const list = node->as_array();
    if (list == nullptr) return bad_input("{}.{} must be a list of {}", where_, key, of_what);
    for (const toml::node& entry : *list) {
      if (const auto value = entry.value_exact<std::string>()) {
        target.push_back(*value);
      } else if (const auto number = entry.value_exact<std::int64_t>()) {
        target.push_back(std::to_string(*number));
      } else {
        return bad_input("{}.{} must be a list of {}", where_, key, of_what);
      }
    }
    return {};
  }
  // A sub-table of lists, one for each of `columns` at most.
  Status vocabularies(const std::vector<std::string>& columns, std::vector<CsvVocabulary>& target) {
    SOTTO_TRY(const toml::table* const lists, table("vocabularies"));
    if (lists == nullptr) return {};
    Section section(*lists, where_ + ".vocabularies");
    for (const std::string& column : columns) {
      CsvVocabulary declared{column, {}};
      SOTTO_CHECK(section.texts(column, declared.values, "values"));
      if (!declared.values.empty()) target.push_back(std::move(declared));
    }
    return section.refuse_unknown();
  }
  Status separator(const std::string& key, char& target) {
    std::string written(1, target);
    SOTTO_CHECK(text(key, written));
    if (written == "tab") written = "\t";
    if (written.size() != 1) return bad_input("{}.{} must be one character", where_, key);
    target = written.front();
    return {};
  }
  Status time_format(TimeFormat& target) {
    std::string name;
    SOTTO_CHECK(text("time_format", name));
    if (name.empty()) return {};
    const auto format = time_format_named(name);
    if (!format)
      return bad_input("{}.time_format = '{}' is none of: unix (the default), unix-ms, iso, american", where_,
                       printable(name, 60));
    target = *format;
    return {};
  }
  // A sub-table, if there.
  Result<const toml::table*> table(std::string key) {
    known_.push_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return nullptr;
    if (node->as_table() == nullptr) return bad_input("{} must be a table", key);
    return node->as_table();
  }
  Status refuse_unknown() const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      const auto near = nearest(name, known_);
      return bad_input("{} has no key '{}'{}; known: {}", where_, printable(name, 60),
                       near ? fmt::format(", did you mean '{}'?", *near) : "", fmt::join(known_, ", "));
    }
    return {};
  }

 private:
  const toml::table& table_;
  std::string where_;
  std::vector<std::string> known_;
};

Status read_section(Section& section, CsvItems& items) {
  SOTTO_CHECK(section.required("file", items.file));
  SOTTO_CHECK(section.required("id", items.id));
  SOTTO_CHECK(section.text("title", items.title));
  SOTTO_CHECK(section.text("text", items.text));
  SOTTO_CHECK(section.text("category", items.category));
  SOTTO_CHECK(section.text("subcategory", items.subcategory));
  SOTTO_CHECK(section.texts("categories", items.categories));
  SOTTO_CHECK(section.texts("numbers", items.numbers));
  return section.separator("list_separator", items.list_separator);
}

Status read_section(Section& section, CsvUsers& users) {
  SOTTO_CHECK(section.required("file", users.file));
  SOTTO_CHECK(section.required("id", users.id));
  SOTTO_CHECK(section.texts("categories", users.categories));
  SOTTO_CHECK(section.texts("numbers", users.numbers));
  SOTTO_CHECK(section.vocabularies(users.categories, users.vocabularies));
  return section.separator("list_separator", users.list_separator);
}

Status read_section(Section& section, CsvInteractions& interactions) {
  SOTTO_CHECK(section.required("file", interactions.file));
  SOTTO_CHECK(section.required("user", interactions.user));
  SOTTO_CHECK(section.required("item", interactions.item));
  SOTTO_CHECK(section.text("rating", interactions.rating));
  SOTTO_CHECK(section.text("time", interactions.time));
  SOTTO_CHECK(section.time_format(interactions.time_format));
  SOTTO_CHECK(section.texts("categories", interactions.categories));
  SOTTO_CHECK(section.texts("numbers", interactions.numbers));
  return section.vocabularies(interactions.categories, interactions.vocabularies);
}

Status read_section(Section& section, CsvImpressions& impressions) {
  SOTTO_CHECK(section.required("file", impressions.file));
  SOTTO_CHECK(section.required("user", impressions.user));
  SOTTO_CHECK(section.required("shown", impressions.shown));
  SOTTO_CHECK(section.required("clicked", impressions.clicked));
  SOTTO_CHECK(section.text("history", impressions.history));
  SOTTO_CHECK(section.text("time", impressions.time));
  SOTTO_CHECK(section.time_format(impressions.time_format));
  SOTTO_CHECK(section.text("split", impressions.split));
  return section.separator("list_separator", impressions.list_separator);
}

template <class Part>
Status read_optional(Section& root, const std::string& key, std::optional<Part>& target) {
  SOTTO_TRY(const toml::table* const table, root.table(key));
  if (table == nullptr) return {};
  Section section(*table, key);
  SOTTO_CHECK(read_section(section, target.emplace()));
  return section.refuse_unknown();
}

Status read_format(Section& root, CsvMapping& mapping) {
  std::string encoding = "utf-8";
  SOTTO_CHECK(root.text("name", mapping.name));
  SOTTO_CHECK(root.text("delimiter", mapping.format.delimiter));
  SOTTO_CHECK(root.flag("quoted", mapping.format.quoted));
  SOTTO_CHECK(root.flag("header", mapping.header));
  SOTTO_CHECK(root.text("encoding", encoding));
  if (mapping.format.delimiter == "tab") mapping.format.delimiter = "\t";
  if (mapping.format.delimiter.empty()) return bad_input("the delimiter is empty");
  if (encoding != "utf-8" && encoding != "latin-1") {
    return bad_input("encoding '{}' is neither utf-8 nor latin-1", printable(encoding, 60));
  }
  mapping.format.encoding = encoding == "utf-8" ? Encoding::utf8 : Encoding::latin1;
  return {};
}

Result<CsvMapping> read_mapping(const toml::table& table) {
  CsvMapping mapping;
  Section root(table, "the mapping");
  SOTTO_CHECK(read_format(root, mapping));
  SOTTO_CHECK(read_optional(root, "items", mapping.items));
  SOTTO_CHECK(read_optional(root, "users", mapping.users));
  SOTTO_CHECK(read_optional(root, "interactions", mapping.interactions));
  SOTTO_CHECK(read_optional(root, "impressions", mapping.impressions));
  SOTTO_CHECK(root.refuse_unknown());
  if (!mapping.interactions && !mapping.impressions) {
    return bad_input("the mapping describes no behaviour: add a table [interactions] or [impressions]");
  }
  return mapping;
}

}  // namespace

Result<CsvMapping> parse_csv_mapping(std::string_view toml, std::string_view file_name) {
  toml = without_byte_order_mark(toml);
  SOTTO_CHECK(check_toml_text(toml, file_name));
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed) {
    return bad_input("{}:{}: {}", file_name, parsed.error().source().begin.line,
                     parsed.error().description());
  }
  auto mapping = read_mapping(parsed.table());
  if (!mapping) return tl::unexpected(std::move(mapping).error().in(file_name));
  return mapping;
}

Result<CsvMapping> load_csv_mapping(const fs::path& file) {
  SOTTO_TRY(const std::string text, read_file(file, max_mapping_bytes));
  return parse_csv_mapping(text, file.string());
}

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

}  // namespace sotto::data
