#include "device/history/impression_store.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/binary_file.h"
#include "base/byte_codec.h"
#include "base/temporary_sibling.h"
#include "base/utf8.h"

namespace sotto::device {

namespace {

constexpr std::string_view file_kind = "impressions";
constexpr std::uint32_t file_version = 1;
constexpr std::size_t most_id_bytes = 1024;

Status check_sense(const StoredImpression& one) {
  SOTTO_CHECK(privacy::validate(one.time));
  if (one.shown.empty() || one.shown.size() != one.clicked.size())
    return bad_input("an impression shows {} items and says of {} whether they were clicked",
                     one.shown.size(), one.clicked.size());
  if (one.shown.size() > ImpressionLimits::most_items || one.history.size() > ImpressionLimits::most_items)
    return bad_input("an impression of {} items after {} clicks: at most {} of either are kept",
                     one.shown.size(), one.history.size(), ImpressionLimits::most_items);
  for (const auto* ids : {&one.shown, &one.history})
    for (const std::string& id : *ids)
      if (id.empty() || id.size() > most_id_bytes || !is_printable(id))
        return bad_input("'{}' is no item's id", printable(id));
  if (std::any_of(one.clicked.begin(), one.clicked.end(), [](std::uint8_t flag) { return flag > 1; }))
    return bad_input("an item was clicked or not: 1 or 0");
  return {};
}

// Every id once: pages repeat their items.
class IdTable {
 public:
  std::uint32_t number_of(const std::string& id) {
    const auto [at, is_new] = numbers_.try_emplace(id, static_cast<std::uint32_t>(ids_.size()));
    if (is_new) ids_.push_back(&at->first);
    return at->second;
  }
  void write(ByteWriter& out) const {
    out.number(static_cast<std::uint32_t>(ids_.size()));
    for (const std::string* id : ids_) out.text(*id);
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> ids_;
};

Result<std::vector<std::string>> read_ids(ByteReader& in, const std::vector<std::string>& table) {
  const auto count = in.number<std::uint16_t>();
  std::vector<std::string> ids;
  for (std::uint16_t i = 0; i < count && in.good(); ++i) {
    const auto number = in.number<std::uint32_t>();
    if (number >= table.size()) return bad_input("an impression names item {} of {}", number, table.size());
    ids.push_back(table[number]);
  }
  return ids;
}

}  // namespace

std::string encode(const std::vector<StoredImpression>& impressions) {
  IdTable ids;
  ByteWriter rows;
  const auto write_ids = [&](const std::vector<std::string>& list) {
    rows.number(static_cast<std::uint16_t>(list.size()));
    for (const std::string& id : list) rows.number(ids.number_of(id));
  };
  rows.number(static_cast<std::uint32_t>(impressions.size()));
  for (const StoredImpression& one : impressions) {
    rows.number(static_cast<std::uint64_t>(one.time.time_since_epoch().count()));
    write_ids(one.history);
    write_ids(one.shown);
    rows.raw({reinterpret_cast<const char*>(one.clicked.data()), one.clicked.size()});
  }
  ByteWriter out;
  ids.write(out);
  out.raw(rows.bytes());
  return std::move(out).take();
}

Result<std::vector<StoredImpression>> decode_impressions(std::string_view bytes) {
  ByteReader in(bytes);
  const auto id_count = in.number<std::uint32_t>();
  if (id_count > in.left() / 2) return bad_input("the impressions name more items than they have bytes for");
  std::vector<std::string> table;
  for (std::uint32_t i = 0; i < id_count && in.good(); ++i) table.emplace_back(in.text());
  const auto count = in.number<std::uint32_t>();
  if (count > in.left() / (8 + 2 + 2)) return bad_input("there are fewer impressions than is said");
  std::vector<StoredImpression> impressions;
  for (std::uint32_t i = 0; i < count && in.good(); ++i) {
    StoredImpression one;
    const auto seconds = in.number<std::uint64_t>();
    if (seconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return bad_input("an impression has an impossible time");
    one.time = privacy::UtcTime(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
    SOTTO_TRY(one.history, read_ids(in, table));
    SOTTO_TRY(one.shown, read_ids(in, table));
    const std::string_view flags = in.raw(one.shown.size());
    one.clicked.assign(flags.begin(), flags.end());
    if (!in.good()) break;
    SOTTO_CHECK(check_sense(one));
    impressions.push_back(std::move(one));
  }
  if (!in.complete()) return bad_input("the impressions are cut off or have something behind their end");
  return impressions;
}

Result<ImpressionStore> ImpressionStore::open(const fs::path& path, const ImpressionLimits& limits) {
  ImpressionStore store(path, limits);
  remove_temporary_siblings(path);
  std::error_code unreadable;
  if (!fs::exists(path, unreadable) && !unreadable) return store;
  SOTTO_TRY(const auto file, BinaryFileReader::open(path, file_kind, file_version));
  SOTTO_TRY(const std::string_view bytes, file.text("impressions"));
  auto stored = decode_impressions(bytes);
  if (!stored) return tl::unexpected(std::move(stored).error().in(path.string()));
  store.stored_ = std::move(*stored);
  return store;
}

Status ImpressionStore::write(std::vector<StoredImpression> stored) {
  SOTTO_TRY(auto file, BinaryFileWriter::create(path_, file_kind, file_version, FileReaders::owner));
  SOTTO_CHECK(file.add_text("impressions", encode(stored)));
  SOTTO_CHECK(file.commit());
  stored_ = std::move(stored);
  return {};
}

Status ImpressionStore::add(std::vector<StoredImpression> impressions, privacy::UtcTime now) {
  for (const StoredImpression& one : impressions) SOTTO_CHECK(check_sense(one));
  std::vector<StoredImpression> after = stored_;
  after.insert(after.end(), std::make_move_iterator(impressions.begin()),
               std::make_move_iterator(impressions.end()));
  std::erase_if(after, [&](const StoredImpression& one) { return one.time + limits_.age < now; });
  if (after.size() > limits_.impressions)
    after.erase(after.begin(), after.end() - static_cast<std::ptrdiff_t>(limits_.impressions));
  return write(std::move(after));
}

Status ImpressionStore::forget_old(privacy::UtcTime now) {
  const bool has_old = std::any_of(stored_.begin(), stored_.end(),
                                   [&](const StoredImpression& one) { return one.time + limits_.age < now; });
  return has_old ? add({}, now) : Status{};
}

Status ImpressionStore::clear() {
  stored_.clear();
  remove_temporary_siblings(path_);
  std::error_code problem;
  fs::remove(path_, problem);
  if (problem) return failed("cannot remove {}: {}", path_.string(), problem.message());
  return {};
}

Result<bool> ImpressionStore::remove_clicked(std::string_view item) {
  std::vector<StoredImpression> after = stored_;
  for (StoredImpression& one : after) {
    std::erase(one.history, item);
    for (std::size_t i = one.shown.size(); i-- > 0;) {
      if (one.shown[i] != item || one.clicked[i] == 0) continue;
      one.shown.erase(one.shown.begin() + static_cast<std::ptrdiff_t>(i));
      one.clicked.erase(one.clicked.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  std::erase_if(after, [](const StoredImpression& one) { return one.shown.empty(); });
  if (after == stored_) return false;
  SOTTO_CHECK(write(std::move(after)));
  return true;
}

}  // namespace sotto::device
