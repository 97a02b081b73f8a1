#pragma once
// A log that is being written: created if absent, appended to, cut back after a failed append.
//
// An object owns the descriptor. Movable; a moved-from one may only be destroyed or assigned to. Not
// thread-safe.

#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"

namespace sotto::serving {

// When an append returns.
enum class Durability {
  process_end,  // written to the system: outlives the process (kill -9), not a power failure
  power_loss,   // on the disk: outlives both; one fsync per append
};

class ItemLog {
 public:
  // A new, empty log. Refuses to replace anything.
  static Result<ItemLog> create(const std::filesystem::path& path, std::uint64_t generation,
                                Durability durability);
  // An existing one of which the first `complete_bytes` are good: the rest is cut off.
  static Result<ItemLog> open(const std::filesystem::path& path, std::uint64_t generation,
                              std::uint64_t complete_bytes, Durability durability);
  ItemLog(ItemLog&& other) noexcept;
  ItemLog& operator=(ItemLog&& other) noexcept;
  ~ItemLog();

  // All bodies or none. After an error of the disk itself the log refuses further work.
  Status append(std::span<const std::string> bodies);
  std::uint64_t bytes() const { return end_; }
  std::uint64_t generation() const { return generation_; }

 private:
  ItemLog(std::filesystem::path path, int descriptor, std::uint64_t generation, std::uint64_t end,
          Durability durability)
      : path_(std::move(path)),
        descriptor_(descriptor),
        generation_(generation),
        end_(end),
        durability_(durability) {}
  Status write_at_end(std::string_view bytes);
  void close();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t generation_ = 0, end_ = 0;
  Durability durability_ = Durability::process_end;
  Status health_;
};

}  // namespace sotto::serving
