#include "data/column_reader.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include "base/printable.h"
#include "data/dataset_sections.h"

namespace sotto {

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

}  // namespace sotto
