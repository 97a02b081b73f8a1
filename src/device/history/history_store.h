#pragma once
// What was clicked on this device: kept here, never sent. Durable (every change is on the disk when the call
// returns), readable by its owner only, bounded, and with the item's vector as it was, because articles leave
// the pool.
//
// Each category keeps its newest clicks independently of all others: whether an old click about sports is
// still there must not depend on how much was read about health.
//
// What an item is about is said by the operator's pack, and decides whether a click may leave the device as
// it is. So labels are pinned: a click keeps every label that its item had, when it was clicked and in all
// packs that this device has seen since or before, and is unprotected only if none of them is sensitive.
// Changed labels are kept for the person to see.
//
// Owns its file. Movable. Not thread-safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "device/pack/device_pack.h"
#include "device/query/query_mechanism.h"
#include "privacy/ledger/ledger_clock.h"

namespace sotto::device {

struct StoredClick {
  std::string item;
  std::vector<std::string> labels;  // categories, the first one first; an empty one: none
  privacy::UtcTime time;
  std::string model;  // version that made the vector
  float scale = 0;    // vector = scale * numbers
  std::vector<std::int8_t> numbers;
  bool operator==(const StoredClick&) const = default;
};

// The operator's pack calls an item something else than before.
struct LabelChange {
  std::string item, before, after;  // categories; empty: none
  privacy::UtcTime time;            // when this device learned of it
  bool operator==(const LabelChange&) const = default;
};

struct StoredHistory {
  std::vector<StoredClick> clicks;   // oldest first
  std::vector<LabelChange> changes;  // oldest first
  // More labels were changed than are kept: nothing is known about an item's past any more, and every further
  // click counts as sensitive.
  bool changes_are_lost = false;
  bool operator==(const StoredHistory&) const = default;
};

class HistoryStore {
 public:
  static constexpr std::size_t default_cap = 200;      // clicks per category
  static constexpr std::size_t most_changes = 10'000;  // of labels

  // A missing file is an empty history; a damaged one is an error. One that others may read is closed to
  // them.
  static Result<HistoryStore> open(const fs::path& path, std::size_t cap_per_category = default_cap);

  // The item must be in the pack. Clicking again moves it to the end.
  Status add(const DevicePack& pack, std::string_view item, privacy::UtcTime now);
  // Deletes clicks and changed labels, and the file.
  Status clear();
  // Deletes what was clicked of one item. False: there was nothing. Changed labels stay: they protect clicks
  // to come.
  Result<bool> remove(std::string_view item);
  // Lets go what is older. Changed labels stay: they protect clicks to come.
  Status forget_before(privacy::UtcTime time);
  // Notes what a new pack calls otherwise. before: the pack that it replaces, if there is one.
  Status follow_labels(const DevicePack* before, const DevicePack& after, privacy::UtcTime now);

  const std::vector<StoredClick>& clicks() const { return stored_.clicks; }
  const std::vector<LabelChange>& label_changes() const { return stored_.changes; }
  // The clicks a model can read: those whose items are in its pack, or whose vectors it made.
  ReadableHistory readable(const DevicePack& pack, const privacy::SensitivitySettings& sensitivity) const;

 private:
  HistoryStore(fs::path path, std::size_t cap) : path_(std::move(path)), cap_(cap) {}
  std::vector<std::string> known_labels(std::string_view item, const std::string& label) const;
  Status write(StoredHistory stored);
  fs::path path_;
  std::size_t cap_;
  StoredHistory stored_;
};

// For the file, and for tests of damaged ones.
std::string encode(const StoredHistory& history);
Result<StoredHistory> decode_history(std::string_view bytes);

}  // namespace sotto::device
