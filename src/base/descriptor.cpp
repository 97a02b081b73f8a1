#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/system_error.h"
#include "base/temporary_sibling.h"

namespace sotto {

namespace fs = std::filesystem;

Result<Descriptor> Descriptor::open(const fs::path& path, int flags, std::string_view action, unsigned mode) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  if (number < 0) return system_failure(action, path);
  return Descriptor(number);
}

Result<Descriptor> Descriptor::open_sibling(const fs::path& path, fs::path& sibling, unsigned mode) {
  int number = -1;
  do {
    sibling = temporary_sibling(path);
    number = ::open(sibling.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (number < 0 && (errno == EEXIST || errno == EINTR));
  if (number < 0) return system_failure("write", path);
  return Descriptor(number);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

bool Descriptor::close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

Status Descriptor::write(std::string_view bytes, std::uint64_t offset, const fs::path& path) const {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return system_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
  return {};
}

Result<bool> Descriptor::lock(const fs::path& path) const {
  constexpr int tries = 50;
  constexpr auto pause = std::chrono::milliseconds(10);
  for (int i = 0; i < tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(pause);
    if (::flock(number_, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return system_failure("lock", path);
  }
  return false;
}

Status Descriptor::reserve(std::uint64_t bytes, const fs::path& path) const {
  int problem = 0;
  do {
    problem = ::posix_fallocate(number_, 0, static_cast<off_t>(bytes));
  } while (problem == EINTR);
  if (problem != 0) return system_failure("find room for", path, problem);
  // Where the C library had to write zeros instead, the disk has the last word.
  if (::fsync(number_) != 0) return system_failure("find room for", path);
  return {};
}

}  // namespace sotto
