#include "data/columns.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "base/utf8.h"
#include "data/dataset_sections.h"
#include "data/user_draws.h"

namespace sotto::data {

namespace {

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace

std::size_t StringTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].occupant != 0) {
    if (slots_[slot].hash == hash && (*this)[slots_[slot].occupant - 1] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::uint32_t StringTable::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot].occupant != 0) return slots_[slot].occupant - 1;
  if (size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
    throw std::length_error("more than four billion different strings in one column");
  }
  if ((size() + 1) * 2 > slots_.size()) {
    grow();
    slot = slot_of(text, hash);
  }
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  offsets_.push_back(bytes_.size());
  slots_[slot] = {hash, static_cast<std::uint32_t>(size())};
  return static_cast<std::uint32_t>(size() - 1);
}

std::optional<std::uint32_t> StringTable::find(std::string_view text) const {
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  if (slot.occupant == 0) return std::nullopt;
  return slot.occupant - 1;
}

void StringTable::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& old : slots_) {
    if (old.occupant == 0) continue;
    std::size_t slot = old.hash & mask;
    while (larger[slot].occupant != 0) slot = (slot + 1) & mask;
    larger[slot] = old;
  }
  slots_ = std::move(larger);
}

std::vector<std::uint32_t> StringTable::renumber(std::span<const std::uint32_t> old_numbers) {
  StringTable sorted;
  std::vector<std::uint32_t> new_numbers(size());
  for (const std::uint32_t old : old_numbers) new_numbers[old] = sorted.intern((*this)[old]);
  *this = std::move(sorted);
  return new_numbers;
}

std::vector<std::uint32_t> StringTable::sort_after(std::size_t fixed) {
  return sort([&](std::uint32_t left, std::uint32_t right) {
    return left < right && left < fixed;  // in their order before all others
  });
}

namespace sections = dataset_sections;

std::span<const std::uint32_t> FeatureColumns::codes_of(const CategoricalColumn& column,
                                                        std::size_t row) const {
  const CodeRange range = row < column.rows.size() ? column.rows[row] : CodeRange{};
  return std::span(column.codes).subspan(range.begin, range.count);
}

void FeatureColumns::declare(std::string_view feature, std::span<const std::string_view> values) {
  const std::uint32_t number = categorical_names_.intern(feature);
  if (number == categorical_.size()) categorical_.emplace_back();
  CategoricalColumn& column = categorical_[number];
  if (column.names.size() > 0) {
    if (problem_)
      problem_ = bad_input("feature '{}': its values are declared after some were set", printable(feature));
    return;
  }
  for (const std::string_view value : values)
    if (!value.empty()) column.names.intern(value);
  column.declared = static_cast<std::uint32_t>(column.names.size());
}

void FeatureColumns::sort_values() {
  for (CategoricalColumn& column : categorical_) {
    const auto new_codes = column.names.sort_after(column.declared);
    for (std::uint32_t& code : column.codes) code = new_codes[code];
  }
}

void FeatureColumns::renumber_rows(std::span<const std::uint32_t> new_numbers) {
  const auto moved = [&](const auto& rows, auto missing) {
    std::vector<decltype(missing)> result(new_numbers.size(), missing);
    for (std::size_t row = 0; row < rows.size(); ++row) result[new_numbers[row]] = rows[row];
    return result;
  };
  for (CategoricalColumn& column : categorical_) column.rows = moved(column.rows, CodeRange{});
  for (std::vector<float>& column : numeric_) column = moved(column, std::numeric_limits<float>::quiet_NaN());
}

std::uint64_t FeatureColumns::hash_of_row(std::size_t row) const {
  std::uint64_t hash = 0;
  for (const CategoricalColumn& column : categorical_) {
    ++hash;
    for (const std::uint32_t code : codes_of(column, row)) hash = hash_of_text(hash, column.names[code]);
  }
  for (const std::vector<float>& column : numeric_) {
    const float value = row < column.size() ? column[row] : std::numeric_limits<float>::quiet_NaN();
    const std::string_view bytes(reinterpret_cast<const char*>(&value), sizeof(value));
    hash = hash_of_text(hash, bytes);
  }
  return hash;
}

void FeatureColumns::set_categorical(std::size_t row, std::string_view feature,
                                     std::span<const std::string_view> values) {
  const std::uint32_t number = categorical_names_.intern(feature);
  if (number == categorical_.size()) categorical_.emplace_back();
  CategoricalColumn& column = categorical_[number];
  if (row >= column.rows.size()) column.rows.resize(row + 1);
  CodeRange range{column.codes.size(), 0};
  for (const std::string_view value : values) {
    if (value.empty()) continue;
    column.codes.push_back(column.names.intern(value));
    ++range.count;
  }
  column.rows[row] = range;
}

void FeatureColumns::set_numeric(std::size_t row, std::string_view feature, float value) {
  if (std::isinf(value)) {
    if (problem_)
      problem_ = bad_input("feature '{}': a value is infinite; leave it out instead", printable(feature));
    return;
  }
  const std::uint32_t number = numeric_names_.intern(feature);
  if (number == numeric_.size()) numeric_.emplace_back();
  std::vector<float>& column = numeric_[number];
  if (row >= column.size()) column.resize(row + 1, std::numeric_limits<float>::quiet_NaN());
  column[row] = value;
}

Status FeatureColumns::write(BinaryFileWriter& writer, std::string_view owner, std::size_t rows,
                             std::span<const std::uint64_t> order) const {
  SOTTO_CHECK(problem_);
  if (categorical_.size() > sections::max_features || numeric_.size() > sections::max_features) {
    return bad_input("{} categorical and {} numeric features: a dataset holds at most {} of each",
                     categorical_.size(), numeric_.size(), sections::max_features);
  }
  const auto source = [&](std::size_t row) { return order.empty() ? row : order[row]; };

  SOTTO_CHECK(write_strings(writer, sections::categorical_list(owner), categorical_names_));
  for (std::size_t number = 0; number < categorical_.size(); ++number) {
    const CategoricalColumn& column = categorical_[number];
    SOTTO_CHECK(write_strings(writer, sections::categorical_names(owner, number), column.names));
    SOTTO_CHECK(write_lists(writer, sections::categorical_codes(owner, number), rows,
                            [&](std::size_t row) { return codes_of(column, source(row)); }));
    SOTTO_CHECK(writer.add(sections::categorical_declared(owner, number), std::vector{column.declared}));
  }

  SOTTO_CHECK(write_strings(writer, sections::numeric_list(owner), numeric_names_));
  for (std::size_t number = 0; number < numeric_.size(); ++number) {
    std::vector<float> values(rows, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t row = 0; row < rows; ++row) {
      if (source(row) < numeric_[number].size()) values[row] = numeric_[number][source(row)];
    }
    SOTTO_CHECK(writer.add(sections::numeric_values(owner, number), values));
  }
  return {};
}

namespace sections = dataset_sections;

namespace {

Status check_offsets(std::string_view name, std::span<const std::uint64_t> offsets, std::size_t end) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != end) {
    return bad_input("section '{}': offsets do not run from 0 to {}", name, end);
  }
  if (!std::is_sorted(offsets.begin(), offsets.end()))
    return bad_input("section '{}': offsets decrease", name);
  return {};
}

Status check_codes(std::string_view name, std::span<const std::uint32_t> codes, std::size_t limit) {
  // The largest first: one pass that the compiler vectorises.
  std::uint32_t largest = 0;
  for (const std::uint32_t code : codes) largest = std::max(largest, code);
  if (!codes.empty() && largest >= limit) {
    return bad_input("section '{}': refers to row {} of {}", name, largest, limit);
  }
  return {};
}

Status check_unique(std::string_view name, const StringColumn& texts) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    if (!seen.insert(texts[row]).second) {
      return bad_input("section '{}': the feature '{}' comes twice", name, printable(texts[row]));
    }
  }
  return {};
}

}  // namespace

tl::unexpected<Error> ColumnReader::wrong_length(std::string_view name, std::size_t rows,
                                                 std::size_t expected) {
  return bad_input("section '{}': {} rows instead of {}", name, rows, expected);
}

Result<StringColumn> ColumnReader::strings(std::string_view name, std::optional<std::size_t> rows) const {
  const std::string offsets_name = sections::offsets_of(name);
  StringColumn column;
  SOTTO_TRY(column.bytes, file_.section<char>(sections::bytes_of(name)));
  SOTTO_TRY(column.offsets, file_.section<std::uint64_t>(offsets_name));
  SOTTO_CHECK(check_offsets(offsets_name, column.offsets, column.bytes.size()));
  if (rows && column.size() != *rows) return wrong_length(offsets_name, column.size(), *rows);
  return column;
}

Result<std::span<const std::uint32_t>> ColumnReader::codes(std::string_view name, std::size_t limit,
                                                           std::optional<std::size_t> rows) const {
  SOTTO_TRY(const std::span<const std::uint32_t> column, values<std::uint32_t>(name, rows));
  SOTTO_CHECK(check_codes(name, column, limit));
  return column;
}

Result<std::span<const std::uint64_t>> ColumnReader::offsets(std::string_view name, std::size_t rows,
                                                             std::size_t end) const {
  SOTTO_TRY(const std::span<const std::uint64_t> column, file_.section<std::uint64_t>(name));
  SOTTO_CHECK(check_offsets(name, column, end));
  if (column.size() - 1 != rows) return wrong_length(name, column.size() - 1, rows);
  return column;
}

Result<ListColumn<std::uint32_t>> ColumnReader::code_lists(std::string_view name, std::size_t rows,
                                                           std::size_t limit) const {
  ListColumn<std::uint32_t> column;
  SOTTO_TRY(column.values, codes(sections::values_of(name), limit));
  SOTTO_TRY(column.offsets, offsets(sections::offsets_of(name), rows, column.values.size()));
  return column;
}

Result<std::span<const float>> ColumnReader::finite_or_missing(std::string_view name,
                                                               std::size_t rows) const {
  SOTTO_TRY(const std::span<const float> column, values<float>(name, rows));
  if (std::any_of(column.begin(), column.end(), [](float value) { return std::isinf(value); })) {
    return bad_input("section '{}': a number is infinite", name);
  }
  return column;
}

Result<CategoricalFeature> ColumnReader::categorical(std::string_view owner, std::size_t feature,
                                                     std::size_t rows) const {
  CategoricalFeature column;
  SOTTO_TRY(column.names, strings(sections::categorical_names(owner, feature)));
  SOTTO_TRY(column.codes, code_lists(sections::categorical_codes(owner, feature), rows, column.names.size()));
  const std::string declared_name = sections::categorical_declared(owner, feature);
  SOTTO_TRY(const auto declared, values<std::uint32_t>(declared_name, 1));
  column.declared = declared[0];
  if (column.declared > column.names.size()) {
    return bad_input("section '{}': {} of {} values are declared", declared_name, column.declared,
                     column.names.size());
  }
  return column;
}

Result<Features> ColumnReader::features(std::string_view owner, std::size_t rows) const {
  const std::string categorical_list = sections::categorical_list(owner),
                    numeric_list = sections::numeric_list(owner);
  SOTTO_TRY(const StringColumn categorical_names, strings(categorical_list));
  SOTTO_TRY(const StringColumn numeric_names, strings(numeric_list));
  if (std::max(categorical_names.size(), numeric_names.size()) > sections::max_features) {
    return bad_input("more than {} features of '{}'", sections::max_features, owner);
  }
  SOTTO_CHECK(check_unique(categorical_list, categorical_names));
  SOTTO_CHECK(check_unique(numeric_list, numeric_names));

  Features features;
  for (std::size_t number = 0; number < categorical_names.size(); ++number) {
    SOTTO_TRY(CategoricalFeature feature, categorical(owner, number, rows));
    feature.name = categorical_names[number];
    features.categorical.push_back(std::move(feature));
  }
  for (std::size_t number = 0; number < numeric_names.size(); ++number) {
    SOTTO_TRY(const std::span<const float> column,
              finite_or_missing(sections::numeric_values(owner, number), rows));
    features.numeric.push_back({std::string(numeric_names[number]), column});
  }
  return features;
}

}  // namespace sotto::data
