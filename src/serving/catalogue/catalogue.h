#pragma once
// The live items: durable, numbered for the indexes, found by id and by number.
//
// Every item gets a number that no other item ever has in this process; an item that is put again under its
// id gets a new one. A change is acknowledged when the log has it (Durability says how firmly).
//
// Safe from any number of threads: changes wait for one another, look-ups wait only while a finished change
// is entered. Items are immutable and shared.

#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "serving/catalogue/catalogue_store.h"
#include "serving/index/item_index.h"

namespace sotto::serving {

struct StoredItem {
  CatalogueItem item;
  ItemNumber number = 0;
  ItemTag tag;
};
using StoredItemPtr = std::shared_ptr<const StoredItem>;

// What an index must do to follow.
struct CatalogueChange {
  std::vector<ItemNumber> removed;
  std::vector<StoredItemPtr> added;
};

// Short codes for names, given in the order in which they first appear. The empty name has code 0.
// Not thread-safe.
class NameCodes {
 public:
  std::optional<std::uint16_t> find(std::string_view name) const {
    const auto at = codes_.find(std::string(name));
    if (at == codes_.end()) return std::nullopt;
    return at->second;
  }
  // No value when all codes are taken.
  std::optional<std::uint16_t> find_or_add(std::string_view name) {
    if (const auto known = find(name)) return known;
    if (codes_.size() > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    const auto code = static_cast<std::uint16_t>(codes_.size());
    codes_.emplace(name, code);
    return code;
  }

 private:
  std::unordered_map<std::string, std::uint16_t> codes_{{"", 0}};
};

// Items are served whatever the disk does; this says what it refuses.
struct CatalogueHealth {
  Status writing;     // why changes are refused
  Status compaction;  // why the files grow: the last attempt failed, and is repeated
  std::uint64_t failed_changes = 0, failed_compactions = 0;  // since the start
};

class Catalogue {
 public:
  struct Settings {
    Durability durability = Durability::power_loss;
    std::uint64_t compact_above = std::uint64_t{256} << 20;  // bytes of log
    std::chrono::seconds compact_again{60};                  // after an attempt that failed
  };
  static Result<std::unique_ptr<Catalogue>> open(const fs::path& folder, const Settings& settings);

  // All of them or, after an error, none.
  Result<CatalogueChange> put(std::vector<CatalogueItem> items);
  // Ids that are not there are skipped.
  Result<CatalogueChange> remove(std::span<const std::string> ids);
  Result<CatalogueChange> expire(std::int64_t published_before);

  bool is_compaction_due() const;
  // Rewrites the files without what is gone. Changes go on meanwhile.
  Status compact();

  // While changes are refused, every call asks the disk whether it has room again: nobody has to try a change
  // to find out. For health checks and metrics.
  CatalogueHealth health() const;

  std::size_t size() const;
  StoredItemPtr find(std::string_view id) const;                              // null when it is not there
  std::vector<StoredItemPtr> find(std::span<const ScoredItem> scored) const;  // nulls for those gone
  std::vector<StoredItemPtr> all() const;                                     // by ascending number
  // How many items have this title and abstract; 0 for an item without text.
  std::size_t count_with_text_of(const CatalogueItem& item) const;
  // Codes of the tags; no value: no item ever had it.
  std::optional<std::uint16_t> category_code(std::string_view name) const;
  std::optional<std::uint16_t> language_code(std::string_view name) const;

 private:
  explicit Catalogue(const Settings& settings) : settings_(settings) {}
  Status check(std::span<const CatalogueItem> items) const;
  Status append(std::span<const std::string> bodies);                    // by the holder of writing_
  Result<CatalogueChange> remove_now(std::span<const std::string> ids);  // likewise
  Status write_compacted();
  Result<StoredItemPtr> number(CatalogueItem item);
  void enter(StoredItemPtr item, CatalogueChange& change);
  void leave(std::string_view id, CatalogueChange& change);

  const Settings settings_;
  mutable std::mutex writing_;
  std::mutex compacting_;
  std::unique_ptr<CatalogueStore> store_;  // used by the holder of writing_
  mutable std::mutex judging_;             // guards the next two
  mutable CatalogueHealth health_;
  std::chrono::steady_clock::time_point compact_after_;
  mutable std::shared_mutex state_;  // guards what follows; written only by the holder of writing_
  std::unordered_map<std::string_view, StoredItemPtr> by_id_;  // keys point into the items
  std::unordered_map<ItemNumber, StoredItemPtr> by_number_;
  std::unordered_map<std::uint64_t, std::size_t> items_by_text_;  // by a hash of title and abstract
  NameCodes categories_, languages_;
  std::uint64_t next_number_ = 0;
  std::uint64_t log_bytes_ = 0;
};

}  // namespace sotto::serving
