#include "coordinator/store/connection.h"

#include <algorithm>
#include <limits>

namespace sotto::coordinator {

namespace {
tl::unexpected<Error> damaged(std::size_t column, std::string_view expected) {
  return failed("column {} of the store's answer is not {}: the store is damaged, restore a backup",
                column + 1, expected);
}
}  // namespace

Result<std::int64_t> sql_number(std::uint64_t number, std::string_view what) {
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return bad_input("{} is {}, and the store holds numbers below 2^63", what, number);
  return static_cast<std::int64_t>(number);
}

bool SqlRow::is_null(std::size_t column) const {
  return std::holds_alternative<std::monostate>(values_.at(column));
}

Result<std::int64_t> SqlRow::integer(std::size_t column) const {
  const auto* value = std::get_if<std::int64_t>(&values_.at(column));
  if (value == nullptr) return damaged(column, "a number");
  return *value;
}

Result<std::uint64_t> SqlRow::number(std::size_t column) const {
  SOTTO_TRY(const std::int64_t value, integer(column));
  if (value < 0) return damaged(column, "a count");
  return static_cast<std::uint64_t>(value);
}

Result<std::string> SqlRow::bytes(std::size_t column) const {
  const auto* value = std::get_if<std::string>(&values_.at(column));
  if (value == nullptr) return damaged(column, "a text");
  return *value;
}

Result<Digest> SqlRow::digest(std::size_t column) const {
  SOTTO_TRY(const std::string value, bytes(column));
  Digest digest{};
  if (value.size() != digest.size()) return damaged(column, "a hash");
  std::copy(value.begin(), value.end(), digest.begin());
  return digest;
}

Result<std::optional<Digest>> SqlRow::optional_digest(std::size_t column) const {
  if (is_null(column)) return std::optional<Digest>();
  return digest(column);
}

Result<UtcTime> SqlRow::time(std::size_t column) const {
  SOTTO_TRY(const std::int64_t value, integer(column));
  return UtcTime{std::chrono::seconds(value)};
}

}  // namespace sotto::coordinator
