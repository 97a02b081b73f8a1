#pragma once
// A disk that fails when a test says so. Include it in one file of a test binary: what it defines stands in
// front of the C library's calls for the whole program, so every write of every layer is met.
//
//   DiskFaults::full_after(7)   the seventh operation that needs room is the last one that finds any (and
//   what
//                               comes next writes half of what it should): a full disk, until the object goes
//   DiskFaults::error_at(7)     the seventh operation fails with an input/output error, all others work
//
// Room that was reserved (posix_fallocate) is there also when the disk is full, and nothing else is.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <map>
#include <mutex>

namespace sotto::disk_faults {

enum class Kind { none, full, error };

struct State {
  std::mutex mutex;
  Kind kind = Kind::none;
  std::int64_t left = 0;  // operations until the fault
  std::int64_t seen = 0;  // operations since the beginning
  bool halved = false;
  std::map<std::pair<dev_t, ino_t>, off_t> reserved;
};
inline State& state() {
  static State instance;
  return instance;
}

// What becomes of the next operation: 0, or the error. needs_room: a full disk refuses it.
inline int next_fault(bool needs_room) {
  State& now = state();
  if (now.kind == Kind::none || (now.kind == Kind::full && !needs_room)) return 0;
  ++now.seen;
  if (now.kind == Kind::full) return now.left-- > 0 ? 0 : (now.left = 0, ENOSPC);
  return now.left-- == 0 ? EIO : 0;
}

inline std::pair<dev_t, ino_t> identity(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  return {status.st_dev, status.st_ino};
}

template <class Call>
Call real(const char* name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

}  // namespace sotto::disk_faults

namespace sotto {

class DiskFaults {
 public:
  static DiskFaults full_after(std::int64_t operations) { return {disk_faults::Kind::full, operations}; }
  static DiskFaults error_at(std::int64_t operation) { return {disk_faults::Kind::error, operation}; }
  DiskFaults(const DiskFaults&) = delete;
  DiskFaults& operator=(const DiskFaults&) = delete;
  ~DiskFaults() {
    const std::lock_guard lock(disk_faults::state().mutex);
    disk_faults::state().kind = disk_faults::Kind::none;
  }
  // Whether the fault was reached: a loop over all points ends where it is not.
  bool happened() const {
    const std::lock_guard lock(disk_faults::state().mutex);
    return disk_faults::state().seen > operation_;
  }

 private:
  DiskFaults(disk_faults::Kind kind, std::int64_t operation) : operation_(operation) {
    disk_faults::State& now = disk_faults::state();
    const std::lock_guard lock(now.mutex);
    now.kind = kind;
    now.left = operation;
    now.seen = 0;
    now.halved = false;
    now.reserved.clear();
  }
  std::int64_t operation_;
};

}  // namespace sotto

extern "C" {

inline int sotto_fault_or(bool needs_room) {
  const std::lock_guard lock(sotto::disk_faults::state().mutex);
  return sotto::disk_faults::next_fault(needs_room);
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    struct stat status {};
    if (::stat(path, &status) != 0) {
      if (const int fault = sotto_fault_or(true); fault != 0) {
        errno = fault;
        return -1;
      }
    }
  }
  static const auto real = sotto::disk_faults::real<int (*)(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  static const auto real = sotto::disk_faults::real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  sotto::disk_faults::State& now = sotto::disk_faults::state();
  int fault = 0;
  bool halve = false;
  {
    const std::lock_guard lock(now.mutex);
    if (now.kind != sotto::disk_faults::Kind::none) {
      const auto at = now.reserved.find(sotto::disk_faults::identity(descriptor));
      const bool needs_room = at == now.reserved.end() || offset + static_cast<off_t>(count) > at->second;
      fault = sotto::disk_faults::next_fault(needs_room);
      halve = fault == ENOSPC && count > 1 && !now.halved;
      if (halve) now.halved = true;
    }
  }
  if (halve) return real(descriptor, bytes, count / 2, offset);
  if (fault == 0) return real(descriptor, bytes, count, offset);
  errno = fault;
  return -1;
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  sotto::disk_faults::State& now = sotto::disk_faults::state();
  {
    const std::lock_guard lock(now.mutex);
    if (const int fault = sotto::disk_faults::next_fault(true); fault != 0) return fault;
    if (now.kind != sotto::disk_faults::Kind::none) {
      now.reserved[sotto::disk_faults::identity(descriptor)] = offset + length;
    }
  }
  static const auto real = sotto::disk_faults::real<int (*)(int, off_t, off_t)>("posix_fallocate");
  return real(descriptor, offset, length);
}

#define SOTTO_FAULTY(name, parameters, arguments, needs_room)                    \
  int name parameters {                                                          \
    if (const int fault = sotto_fault_or(needs_room); fault != 0) {              \
      errno = fault;                                                             \
      return -1;                                                                 \
    }                                                                            \
    static const auto real = sotto::disk_faults::real<int(*) parameters>(#name); \
    return real arguments;                                                       \
  }
SOTTO_FAULTY(fsync, (int descriptor), (descriptor), false)
SOTTO_FAULTY(fdatasync, (int descriptor), (descriptor), false)
SOTTO_FAULTY(ftruncate, (int descriptor, off_t length) noexcept, (descriptor, length), false)
SOTTO_FAULTY(link, (const char* from, const char* to) noexcept, (from, to), true)
SOTTO_FAULTY(rename, (const char* from, const char* to) noexcept, (from, to), false)
#undef SOTTO_FAULTY

}  // extern "C"
