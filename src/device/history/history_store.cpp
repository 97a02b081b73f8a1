#include "device/history/history_store.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/binary_file.h"
#include "base/byte_codec.h"
#include "base/temporary_sibling.h"
#include "base/utf8.h"

namespace sotto::device {

namespace {

constexpr std::string_view kind = "clicks";
constexpr std::uint32_t version = 2;

std::string label_of(const DevicePack& pack, std::size_t row) {
  const std::uint16_t category = pack.items.categories[row];
  return category == no_category ? std::string() : pack.categories[category];
}

using RowOfItem = std::unordered_map<std::string_view, std::size_t>;
RowOfItem rows_of(const PackItems& items) {
  RowOfItem rows;
  for (std::size_t i = 0; i < items.size(); ++i) rows.emplace(items.ids[i], i);
  return rows;
}

void add_label(std::vector<std::string>& labels, const std::string& label) {
  if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
}

Result<privacy::UtcTime> read_time(ByteReader& in) {
  const auto seconds = in.number<std::uint64_t>();
  if (seconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return bad_input("the history holds an impossible time");
  }
  const privacy::UtcTime time{std::chrono::seconds{static_cast<std::int64_t>(seconds)}};
  SOTTO_CHECK(privacy::validate(time));
  return time;
}

void write_time(ByteWriter& out, privacy::UtcTime time) {
  out.number(static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

// How many entries follow: never more than there are bytes for, so that nobody can ask for much memory.
Result<std::uint32_t> read_count(ByteReader& in, std::size_t smallest) {
  const auto count = in.number<std::uint32_t>();
  if (count > in.left() / smallest) return bad_input("the history is shorter than it says");
  return count;
}

Result<StoredClick> read_click(ByteReader& in) {
  StoredClick click;
  click.item = in.text();
  const auto labels = in.number<std::uint16_t>();
  for (std::uint16_t i = 0; i < labels && in.good(); ++i) click.labels.emplace_back(in.text());
  SOTTO_TRY(click.time, read_time(in));
  click.model = in.text();
  click.scale = std::bit_cast<float>(in.number<std::uint32_t>());
  const std::string_view numbers = in.raw(in.number<std::uint16_t>());
  click.numbers.assign(numbers.begin(), numbers.end());
  if (click.item.empty() || !is_printable(click.item) || click.labels.empty() ||
      !std::all_of(click.labels.begin(), click.labels.end(), is_printable) || !is_printable(click.model) ||
      !(click.scale >= 0 && click.scale <= std::numeric_limits<float>::max() / 128)) {
    return bad_input("the history holds a click that makes no sense");
  }
  return click;
}

Result<LabelChange> read_change(ByteReader& in) {
  LabelChange change;
  change.item = in.text();
  change.before = in.text();
  change.after = in.text();
  SOTTO_TRY(change.time, read_time(in));
  if (change.item.empty() || !is_printable(change.item) || !is_printable(change.before) ||
      !is_printable(change.after)) {
    return bad_input("the history holds a changed label that makes no sense");
  }
  return change;
}

// History from before a stricter file mode, or copied by somebody.
Status close_to_others(const fs::path& path) {
  std::error_code problem;
  constexpr fs::perms others = fs::perms::group_all | fs::perms::others_all;
  if ((fs::status(path, problem).permissions() & others) == fs::perms::none) return {};
  fs::permissions(path, others, fs::perm_options::remove, problem);
  if (!problem) return {};
  return bad_input("other people may read {}, and it cannot be closed to them ({}): remove their rights",
                   path.string(), problem.message());
}

}  // namespace

std::string encode(const StoredHistory& history) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(history.clicks.size()));
  for (const StoredClick& click : history.clicks) {
    out.text(click.item);
    out.number(static_cast<std::uint16_t>(click.labels.size()));
    for (const std::string& label : click.labels) out.text(label);
    write_time(out, click.time);
    out.text(click.model);
    out.number(std::bit_cast<std::uint32_t>(click.scale));
    out.number(static_cast<std::uint16_t>(click.numbers.size()));
    out.raw({reinterpret_cast<const char*>(click.numbers.data()), click.numbers.size()});
  }
  out.number(static_cast<std::uint32_t>(history.changes.size()));
  for (const LabelChange& change : history.changes) {
    out.text(change.item);
    out.text(change.before);
    out.text(change.after);
    write_time(out, change.time);
  }
  out.number(static_cast<std::uint8_t>(history.changes_are_lost ? 1 : 0));
  return std::move(out).take();
}

Result<StoredHistory> decode_history(std::string_view bytes) {
  ByteReader in(bytes);
  StoredHistory history;
  SOTTO_TRY(const std::uint32_t clicks, read_count(in, 2 + 2 + 8 + 2 + 4 + 2));
  for (std::uint32_t i = 0; i < clicks && in.good(); ++i) {
    SOTTO_TRY(StoredClick click, read_click(in));
    history.clicks.push_back(std::move(click));
  }
  SOTTO_TRY(const std::uint32_t changes, read_count(in, 2 + 2 + 2 + 8));
  for (std::uint32_t i = 0; i < changes && in.good(); ++i) {
    SOTTO_TRY(LabelChange change, read_change(in));
    history.changes.push_back(std::move(change));
  }
  const auto lost = in.number<std::uint8_t>();
  history.changes_are_lost = lost == 1;
  if (!in.complete() || lost > 1) {
    return bad_input("the history is cut off or has something behind its end");
  }
  return history;
}

Result<HistoryStore> HistoryStore::open(const fs::path& path, std::size_t cap_per_category) {
  if (cap_per_category == 0) return bad_input("a history keeps at least one click per category");
  HistoryStore store(path, cap_per_category);
  remove_temporary_siblings(path);
  std::error_code unreadable;
  if (!fs::exists(path, unreadable) && !unreadable) return store;
  SOTTO_CHECK(close_to_others(path));
  SOTTO_TRY(const auto file, BinaryFileReader::open(path, kind, version));
  SOTTO_TRY(const std::string_view bytes, file.text("clicks"));
  auto stored = decode_history(bytes);
  if (!stored) return tl::unexpected(std::move(stored).error().in(path.string()));
  store.stored_ = std::move(*stored);
  return store;
}

Status HistoryStore::write(StoredHistory stored) {
  SOTTO_TRY(auto file, BinaryFileWriter::create(path_, kind, version, FileReaders::owner));
  SOTTO_CHECK(file.add_text("clicks", encode(stored)));
  SOTTO_CHECK(file.commit());
  stored_ = std::move(stored);
  return {};
}

std::vector<std::string> HistoryStore::known_labels(std::string_view item, const std::string& label) const {
  std::vector<std::string> labels;
  for (const StoredClick& click : stored_.clicks) {
    if (click.item == item) labels = click.labels;
  }
  for (const LabelChange& change : stored_.changes) {
    if (change.item != item) continue;
    add_label(labels, change.before);
    add_label(labels, change.after);
  }
  if (stored_.changes_are_lost) add_label(labels, std::string());
  add_label(labels, label);
  return labels;
}

Status HistoryStore::add(const DevicePack& pack, std::string_view item, privacy::UtcTime now) {
  SOTTO_CHECK(privacy::validate(now));
  const PackItems& items = pack.items;
  const auto found = std::find(items.ids.begin(), items.ids.end(), item);
  if (found == items.ids.end())
    return bad_input("the pack does not have the item \"{}\": fetch the newest pack", item);
  const auto row = static_cast<std::size_t>(found - items.ids.begin());
  StoredClick click;
  click.item = item;
  click.labels = known_labels(item, label_of(pack, row));
  click.time = now;
  click.model = pack.model;
  click.scale = items.vectors.scales[row];
  const auto numbers = std::span(items.vectors.data).subspan(row * pack.dimension, pack.dimension);
  click.numbers.assign(numbers.begin(), numbers.end());

  StoredHistory after = stored_;
  std::vector<StoredClick>& clicks = after.clicks;
  std::erase_if(clicks, [&](const StoredClick& other) { return other.item == item; });
  const auto same_category = [&](const StoredClick& other) {
    return other.labels.front() == click.labels.front();
  };
  auto excess =
      std::count_if(clicks.begin(), clicks.end(), same_category) + 1 - static_cast<std::ptrdiff_t>(cap_);
  std::erase_if(clicks, [&](const StoredClick& other) { return same_category(other) && excess-- > 0; });
  clicks.push_back(std::move(click));
  return write(std::move(after));
}

Status HistoryStore::clear() {
  remove_temporary_siblings(path_);
  std::error_code problem;
  fs::remove(path_, problem);
  if (problem) return failed("cannot remove {}: {}", path_.string(), problem.message());
  stored_ = {};
  return {};
}

Result<bool> HistoryStore::remove(std::string_view item) {
  StoredHistory after = stored_;
  if (std::erase_if(after.clicks, [&](const StoredClick& click) { return click.item == item; }) == 0)
    return false;
  SOTTO_CHECK(write(std::move(after)));
  return true;
}

Status HistoryStore::forget_before(privacy::UtcTime time) {
  StoredHistory after = stored_;
  std::erase_if(after.clicks, [&](const StoredClick& click) { return click.time < time; });
  return after.clicks.size() == stored_.clicks.size() ? Status{} : write(std::move(after));
}

Status HistoryStore::follow_labels(const DevicePack* before, const DevicePack& after, privacy::UtcTime now) {
  SOTTO_CHECK(privacy::validate(now));
  const RowOfItem rows = rows_of(after.items);
  StoredHistory next = stored_;
  const auto relabel = [&](const std::string& item, const std::string& old, const std::string& label) {
    if (next.changes_are_lost) return;
    const bool noted = std::any_of(next.changes.begin(), next.changes.end(), [&](const LabelChange& other) {
      return other.item == item && other.before == old && other.after == label;
    });
    if (noted) return;
    if (next.changes.size() == most_changes) {
      next.changes_are_lost = true;
    } else {
      next.changes.push_back({item, old, label, now});
    }
  };
  if (before != nullptr) {
    for (std::size_t i = 0; i < before->items.size(); ++i) {
      const auto at = rows.find(before->items.ids[i]);
      if (at == rows.end()) continue;
      const std::string old = label_of(*before, i), label = label_of(after, at->second);
      if (old != label) relabel(before->items.ids[i], old, label);
    }
  }
  // Packs that lay between may never have been seen here.
  for (StoredClick& click : next.clicks) {
    const auto at = rows.find(click.item);
    if (at == rows.end()) continue;
    const std::string label = label_of(after, at->second);
    if (std::find(click.labels.begin(), click.labels.end(), label) != click.labels.end()) continue;
    relabel(click.item, click.labels.back(), label);
    click.labels.push_back(label);
  }
  return next == stored_ ? Status{} : write(std::move(next));
}

ReadableHistory HistoryStore::readable(const DevicePack& pack,
                                       const privacy::SensitivitySettings& sensitivity) const {
  const RowOfItem rows = rows_of(pack.items);
  ReadableHistory history;
  std::vector<float> vector(pack.dimension);
  for (const StoredClick& click : stored_.clicks) {
    if (const auto live = rows.find(click.item); live != rows.end()) {
      pack.items.vectors.floats_of_row(live->second, vector);
    } else if (click.model == pack.model && click.numbers.size() == pack.dimension) {
      for (std::size_t i = 0; i < vector.size(); ++i)
        vector[i] = click.scale * static_cast<float>(click.numbers[i]);
    } else {
      continue;
    }
    privacy::CategorisedClick categorised{history.clicks.size(), {}};
    for (const std::string& label : click.labels) {
      const auto category = sensitivity.find(label);
      if (!category) {  // without a category it is sensitive, whatever else it was called
        categorised.categories.clear();
        break;
      }
      categorised.categories.push_back(*category);
    }
    history.clicks.push_back(std::move(categorised));
    history.vectors.insert(history.vectors.end(), vector.begin(), vector.end());
  }
  return history;
}

}  // namespace sotto::device
