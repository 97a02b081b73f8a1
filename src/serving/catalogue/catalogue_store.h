#pragma once
// The files of a catalogue: snapshots and logs in generations, in one folder with one owner.
//
//   catalogue-N.snapshot   every live item when generation N began (none for the first)
//   catalogue-N.log        every change since; opens with how much of the log before it counts
//   lock                   held (flock) by the one process that has the catalogue open
//
// Compaction begins generation N+1 with an empty log, writes its snapshot under a temporary name, renames it,
// and removes generation N. Whenever the process is killed, the newest snapshot and the logs from its
// generation on hold every acknowledged change.
//
// A full disk costs nothing but the changes that it refuses. A log whose end has become uncertain (a failed
// fsync, a tail that could not be cut off, a file that somebody deleted) is left behind: the next change
// begins a generation that says how far the one before is good. So nothing has to be restarted or mended when
// there is room again.
//
// Not thread-safe, except that write_snapshot() may run beside append().

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/append_log.h"
#include "base/files.h"
#include "serving/catalogue/catalogue_item.h"

namespace sotto::serving {

class CatalogueStore {
 public:
  using Replay = std::function<Status(CatalogueRecord&&)>;
  // Creates the folder when it is missing. Hands every record to `replay`, oldest first. A disk that takes no
  // writes does not stand in the way of reading.
  static Result<CatalogueStore> open(const fs::path& folder, Durability durability, const Replay& replay);
  // Refuses a folder that a process has open; for whoever would write beside the files before opening them.
  static Status check_unused(const fs::path& folder);

  Status append(std::span<const std::string> bodies);
  // Would the disk take a change now?
  Status probe();
  std::uint64_t log_bytes() const;  // since the newest snapshot

  // The next generation: later appends go to its log. The items alive at this moment must then be handed to
  // write_snapshot() with its number. One that has no changes yet is used again.
  Result<std::uint64_t> begin_generation();
  // next: the next of `count` items.
  Status write_snapshot(std::uint64_t generation, std::size_t count,
                        const std::function<const CatalogueItem&()>& next) const;
  // Removes the files that a snapshot has made superfluous.
  void drop_before(std::uint64_t generation);

 private:
  CatalogueStore(fs::path folder, Descriptor lock, Durability durability)
      : folder_(std::move(folder)), lock_(std::move(lock)), durability_(durability) {}
  Status replay_all(const Replay& replay);
  void remove_leftovers() const;
  bool can_append() const { return log_ && !log_->is_broken(); }

  fs::path folder_;
  Descriptor lock_;
  Durability durability_;
  std::uint64_t generation_ = 0;                   // of the newest log; 0: there is none
  std::optional<AppendLog> log_;                   // that log, unless it could not be opened for writing
  std::map<std::uint64_t, std::uint64_t> sealed_;  // bytes that count of each log before it
};

// Both kinds of files, for their tests: opened by the generation (8 bytes) and, of a log, how many bytes of
// the log before it count, or, of a snapshot, how many items it has (8).
extern const LogFormat catalogue_format;
std::string catalogue_opening(std::uint64_t generation, std::uint64_t number);

}  // namespace sotto::serving
