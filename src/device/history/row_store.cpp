#include "device/history/row_store.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/binary_file.h"
#include "base/byte_codec.h"
#include "base/temporary_sibling.h"
#include "base/utf8.h"

namespace sotto::device {

namespace {

constexpr std::string_view file_kind = "rows";
constexpr std::uint32_t file_version = 1;
constexpr std::size_t most_text_bytes = 1024;

Status check_text(const std::string& text, std::string_view what) {
  if (!text.empty() && text.size() <= most_text_bytes && is_printable(text)) return {};
  return bad_input("'{}' is no {}", printable(text), what);
}

Status check_values(const std::vector<FieldValue>& values) {
  if (values.size() > RowLimits::most_values)
    return bad_input("{} values of features at once: at most {} are kept", values.size(),
                     RowLimits::most_values);
  for (const FieldValue& value : values) {
    SOTTO_CHECK(check_text(value.field, "feature's name"));
    SOTTO_CHECK(check_text(value.value, "feature's value"));
  }
  return {};
}

Status check_sense(const StoredRow& row) {
  SOTTO_CHECK(privacy::validate(row.time));
  SOTTO_CHECK(check_text(row.item, "item's id"));
  if (row.rating && !std::isfinite(*row.rating)) return bad_input("a rating is a finite number, or none");
  return check_values(row.situation);
}

void write_values(ByteWriter& out, const std::vector<FieldValue>& values) {
  out.number(static_cast<std::uint16_t>(values.size()));
  for (const FieldValue& value : values) {
    out.text(value.field);
    out.text(value.value);
  }
}

std::vector<FieldValue> read_values(ByteReader& in) {
  std::vector<FieldValue> values;
  for (std::size_t left = in.number<std::uint16_t>(); left > 0 && in.good(); --left) {
    std::string field(in.text());
    values.push_back({std::move(field), std::string(in.text())});
  }
  return values;
}

}  // namespace

std::string encode(const StoredRows& stored) {
  ByteWriter out;
  write_values(out, stored.profile);
  out.number(static_cast<std::uint32_t>(stored.rows.size()));
  for (const StoredRow& row : stored.rows) {
    out.number(static_cast<std::uint64_t>(row.time.time_since_epoch().count()));
    out.text(row.item);
    out.number(static_cast<std::uint8_t>(row.rating ? 1 : 0));
    if (row.rating) out.number(std::bit_cast<std::uint32_t>(*row.rating));
    write_values(out, row.situation);
  }
  return std::move(out).take();
}

Result<StoredRows> decode_rows(std::string_view bytes) {
  ByteReader in(bytes);
  StoredRows stored;
  stored.profile = read_values(in);
  SOTTO_CHECK(check_values(stored.profile));
  const auto count = in.number<std::uint32_t>();
  if (count > in.left() / (8 + 2 + 1 + 2)) return bad_input("there are fewer rows than is said");
  for (std::uint32_t i = 0; i < count && in.good(); ++i) {
    StoredRow row;
    const auto seconds = in.number<std::uint64_t>();
    if (seconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return bad_input("a row has an impossible time");
    row.time = privacy::UtcTime(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
    row.item = in.text();
    const auto rated = in.number<std::uint8_t>();
    if (rated > 1) return bad_input("a row is rated or not: 1 or 0");
    if (rated == 1) row.rating = std::bit_cast<float>(in.number<std::uint32_t>());
    row.situation = read_values(in);
    if (!in.good()) break;
    SOTTO_CHECK(check_sense(row));
    stored.rows.push_back(std::move(row));
  }
  if (!in.complete()) return bad_input("the rows are cut off or have something behind their end");
  return stored;
}

Result<RowStore> RowStore::open(const fs::path& path, const RowLimits& limits) {
  RowStore store(path, limits);
  remove_temporary_siblings(path);
  std::error_code unreadable;
  if (!fs::exists(path, unreadable) && !unreadable) return store;
  SOTTO_TRY(const auto file, BinaryFileReader::open(path, file_kind, file_version));
  SOTTO_TRY(const std::string_view bytes, file.text("rows"));
  auto stored = decode_rows(bytes);
  if (!stored) return tl::unexpected(std::move(stored).error().in(path.string()));
  store.stored_ = std::move(*stored);
  return store;
}

Status RowStore::write(StoredRows stored) {
  SOTTO_TRY(auto file, BinaryFileWriter::create(path_, file_kind, file_version, FileReaders::owner));
  SOTTO_CHECK(file.add_text("rows", encode(stored)));
  SOTTO_CHECK(file.commit());
  stored_ = std::move(stored);
  return {};
}

Status RowStore::add(std::vector<StoredRow> rows, privacy::UtcTime now) {
  for (const StoredRow& row : rows) SOTTO_CHECK(check_sense(row));
  StoredRows after = stored_;
  after.rows.insert(after.rows.end(), std::make_move_iterator(rows.begin()),
                    std::make_move_iterator(rows.end()));
  std::erase_if(after.rows, [&](const StoredRow& row) { return row.time + limits_.age < now; });
  if (after.rows.size() > limits_.rows)
    after.rows.erase(after.rows.begin(), after.rows.end() - static_cast<std::ptrdiff_t>(limits_.rows));
  return write(std::move(after));
}

Status RowStore::set_profile(std::vector<FieldValue> profile) {
  SOTTO_CHECK(check_values(profile));
  return write({std::move(profile), stored_.rows});
}

Status RowStore::forget_old(privacy::UtcTime now) {
  const bool has_old = std::any_of(stored_.rows.begin(), stored_.rows.end(),
                                   [&](const StoredRow& row) { return row.time + limits_.age < now; });
  return has_old ? add({}, now) : Status{};
}

Status RowStore::clear() {
  stored_ = {};
  remove_temporary_siblings(path_);
  std::error_code problem;
  fs::remove(path_, problem);
  if (problem) return failed("cannot remove {}: {}", path_.string(), problem.message());
  return {};
}

Result<bool> RowStore::remove(std::string_view item) {
  StoredRows after = stored_;
  if (std::erase_if(after.rows, [&](const StoredRow& row) { return row.item == item; }) == 0) return false;
  SOTTO_CHECK(write(std::move(after)));
  return true;
}

}  // namespace sotto::device
