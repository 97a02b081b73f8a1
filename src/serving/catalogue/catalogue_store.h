#pragma once
// The files of a catalogue: snapshots and logs in generations, in one folder with one owner.
//
//   catalogue-N.snapshot   every live item when generation N began (none for the first)
//   catalogue-N.log        every change since
//   lock                   held (flock) by the one process that has the catalogue open
//
// Compaction begins generation N+1 with an empty log, writes its snapshot under a temporary name, renames it,
// and removes generation N. Whenever the process is killed, the newest snapshot and the logs from its
// generation on hold every acknowledged change. Not thread-safe, except that write_snapshot() may run beside
// append().

#include <functional>
#include <memory>

#include "base/files.h"
#include "serving/catalogue/catalogue_item.h"
#include "serving/catalogue/item_log.h"

namespace sotto::serving {

class CatalogueStore {
 public:
  using Replay = std::function<Status(CatalogueRecord&&)>;
  // Creates the folder when it is missing. Hands every record to `replay`, oldest first.
  static Result<CatalogueStore> open(const fs::path& folder, Durability durability, const Replay& replay);
  CatalogueStore(CatalogueStore&&) noexcept = default;
  CatalogueStore& operator=(CatalogueStore&&) noexcept = default;
  ~CatalogueStore() = default;

  Status append(std::span<const std::string> bodies) { return log_.append(bodies); }
  std::uint64_t log_bytes() const { return log_.bytes(); }

  // The next generation: later appends go to its log. The items alive at this moment must then be handed to
  // write_snapshot() with its number.
  Result<std::uint64_t> begin_generation();
  // next: the next item, or nullptr at the end. Removes the generations before.
  Status write_snapshot(std::uint64_t generation, const std::function<const CatalogueItem*()>& next) const;

 private:
  struct Lock {
    explicit Lock(int owned) : descriptor(owned) {}
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();
    int descriptor;
  };
  CatalogueStore(fs::path folder, std::unique_ptr<Lock> lock, ItemLog log, Durability durability)
      : folder_(std::move(folder)), lock_(std::move(lock)), log_(std::move(log)), durability_(durability) {}
  static Result<std::unique_ptr<Lock>> lock(const fs::path& folder);

  fs::path folder_;
  std::unique_ptr<Lock> lock_;
  ItemLog log_;
  Durability durability_;
};

}  // namespace sotto::serving
