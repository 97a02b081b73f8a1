#pragma once
// What was clicked on this device: kept here, never sent. Durable (every change is on the disk when the call
// returns), bounded, and with the item's vector as it was, because articles leave the pool.
//
// Each category keeps its newest clicks independently of all others: whether an old click about sports is
// still there must not depend on how much was read about health.
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
#include "privacy/ledger/utc_time.h"

namespace sotto {

struct StoredClick {
  std::string item;
  std::string category;  // empty: none
  UtcTime time;
  std::string model;  // version that made the vector
  float scale = 0;    // vector = scale * numbers
  std::vector<std::int8_t> numbers;
  bool operator==(const StoredClick&) const = default;
};

class HistoryStore {
 public:
  static constexpr std::size_t default_cap = 200;  // clicks per category

  // A missing file is an empty history; a damaged one is an error.
  static Result<HistoryStore> open(const fs::path& path, std::size_t cap_per_category = default_cap);

  // The item must be in the pack. Clicking again moves it to the end.
  Status add(const DevicePack& pack, std::string_view item, UtcTime now);
  Status clear();

  const std::vector<StoredClick>& clicks() const { return clicks_; }  // oldest first
  // The clicks a model can read: those whose items are in its pack, or whose vectors it made.
  ReadableHistory readable(const DevicePack& pack, const SensitivitySettings& sensitivity) const;

 private:
  HistoryStore(fs::path path, std::size_t cap) : path_(std::move(path)), cap_(cap) {}
  Status write(std::vector<StoredClick> clicks);
  fs::path path_;
  std::size_t cap_;
  std::vector<StoredClick> clicks_;
};

// For the file, and for tests of damaged ones.
std::string encode(const std::vector<StoredClick>& clicks);
Result<std::vector<StoredClick>> decode_clicks(std::string_view bytes);

}  // namespace sotto
