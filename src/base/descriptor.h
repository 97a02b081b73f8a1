#pragma once
// An open file, and the calls on it that a full disk or a signal may interrupt.
//
// Owns the descriptor. Movable; a moved-from one may only be destroyed or assigned to. Not thread-safe.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sotto {

class Descriptor {
 public:
  Descriptor() = default;
  // flags as for open(2), O_CLOEXEC is added; mode for a file that is created. action: for the message.
  static Result<Descriptor> open(const std::filesystem::path& path, int flags, std::string_view action,
                                 unsigned mode = 0);
  // Under a name beside `path` that nobody else has; see temporary_sibling.h.
  static Result<Descriptor> open_sibling(const std::filesystem::path& path, std::filesystem::path& sibling,
                                         unsigned mode);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  bool close();  // false: a late failure (network file systems)

  Status write(std::string_view bytes, std::uint64_t offset, const std::filesystem::path& path) const;
  // Room for a file of that many bytes, on the disk: later writes within it find it, however full the disk
  // becomes. Makes the file longer where it must.
  Status reserve(std::uint64_t bytes, const std::filesystem::path& path) const;
  // For this descriptor alone, until it is closed; false: somebody has it. Waits a moment before it says so:
  // a process that another thread is starting holds copies of all descriptors until it has become its
  // program.
  Result<bool> lock(const std::filesystem::path& path) const;

 private:
  explicit Descriptor(int number) : number_(number) {}
  int number_ = -1;
};

}  // namespace sotto
