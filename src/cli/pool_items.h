#pragma once
// Whose items a folder of live items holds. A model ranks other items than those it learned from by numbers
// that mean nothing, so the folder belongs to the data it was filled with: DIR/items.json has that data's
// fingerprint and marks of some of its items. A model of the same data, wherever it lies, is served; one of
// other data (a longer log, a view) where it knows enough of the marked items by the same id and the same
// words. Items that say nothing are no evidence: an operator who knows better says so.
//
// One owner, who writes only while the folder is its own (serving/catalogue).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace sotto::cli {

// What a model was trained on.
struct ServedData {
  std::string name, fingerprint;  // data/fingerprint.h
  fs::path folder;                // empty: there is none to look into
};

// Of items that are made up, which no run knows.
ServedData made_up_data();

class PoolItems {
 public:
  // same_items: whatever data is accepted, on the operator's word.
  static Result<PoolItems> open(const fs::path& pool, bool same_items);

  // Refuses data about other items than the folder's. Writes nothing.
  Status accept(const ServedData& data);
  // Writes down what was accepted last, unless it stands there. filled: all of its items are in the pool.
  Status note(bool filled);
  // False while the items of the noted data are not yet all in the pool, as after a kill.
  bool filled() const { return !noted_ || noted_->filled; }

 private:
  struct Note {
    std::string dataset, fingerprint;
    std::vector<std::uint64_t> marks;  // of described public items, the smallest first
    bool filled = false;
  };
  PoolItems(fs::path pool, bool same_items) : pool_(std::move(pool)), same_items_(same_items) {}
  static Result<std::vector<std::uint64_t>> all_marks(const fs::path& dataset);
  fs::path file() const { return pool_ / "items.json"; }
  Result<Note> read() const;
  Status check(const ServedData& data, const std::vector<std::uint64_t>& marks) const;

  fs::path pool_;
  bool same_items_;
  std::optional<Note> noted_, accepted_;
};

}  // namespace sotto::cli
