#pragma once
// What was used or rated on this device, one item at a time, and what the device knows of its reader: what it
// trains on where a recipe reads interactions. Kept here, never sent. Durable, readable by its owner only,
// bounded in number and age: the oldest leave first. Deleting leaves no byte of it in the folder.
//
// Owns its file. Movable. Not thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "privacy/ledger/ledger_clock.h"

namespace sotto::device {

// A value of a feature, both by the names that a service has published.
struct FieldValue {
  std::string field, value;
  bool operator==(const FieldValue&) const = default;
};

struct StoredRow {
  privacy::UtcTime time{};
  std::string item;
  std::optional<float> rating;        // none: it was used
  std::vector<FieldValue> situation;  // in which it was
  bool operator==(const StoredRow&) const = default;
};

struct StoredRows {
  std::vector<FieldValue> profile;  // of the reader
  std::vector<StoredRow> rows;      // oldest first
  bool operator==(const StoredRows&) const = default;
};

struct RowLimits {
  std::size_t rows = 10'000;
  std::chrono::days age{3650};
  static constexpr std::size_t most_values = 1000;  // of a profile, or a situation
};

class RowStore {
 public:
  // A missing file is an empty store; a damaged one is an error.
  static Result<RowStore> open(const fs::path& path, const RowLimits& limits = {});

  // Behind those that are there. All or none; refuses what makes no sense.
  Status add(std::vector<StoredRow> rows, privacy::UtcTime now);
  Status set_profile(std::vector<FieldValue> profile);
  // Lets go what is too old.
  Status forget_old(privacy::UtcTime now);
  Status clear();
  // Deletes the rows of one item. False: there was none.
  Result<bool> remove(std::string_view item);

  const StoredRows& stored() const { return stored_; }

 private:
  RowStore(fs::path path, const RowLimits& limits) : path_(std::move(path)), limits_(limits) {}
  Status write(StoredRows stored);
  fs::path path_;
  RowLimits limits_;
  StoredRows stored_;
};

// For the file, and for tests of damaged ones.
std::string encode(const StoredRows& stored);
Result<StoredRows> decode_rows(std::string_view bytes);

}  // namespace sotto::device
