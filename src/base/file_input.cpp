#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/byte_source.h"
#include "base/system_error.h"

namespace sotto {

namespace {
constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
}

FileInput::FileInput(int descriptor, fs::path path)
    : descriptor_(descriptor), path_(std::move(path)), buffer_(buffer_bytes) {}

FileInput::FileInput(FileInput&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      bytes_read_(other.bytes_read_) {}

FileInput::~FileInput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<FileInput> FileInput::open(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_failure("read", path);
  FileInput input(descriptor, path);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return system_failure("read", path);
  if (S_ISDIR(status.st_mode))
    return bad_input("cannot read {}: it is a folder, a file is needed", path.string());
  return input;
}

// False at the end of the file. The buffer must have room.
Result<bool> FileInput::read_more() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (end_ == buffer_.size()) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= std::exchange(begin_, 0);
  }
  ssize_t got = 0;
  do {
    got = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return system_failure("read", path_);
  end_ += static_cast<std::size_t>(got);
  bytes_read_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

Result<std::span<const char>> FileInput::peek() { return peek_at_least(1); }

Result<std::span<const char>> FileInput::peek_at_least(std::size_t bytes) {
  bool more = true;
  while (more && end_ - begin_ < bytes) {
    SOTTO_TRY(more, read_more());
  }
  return std::span<const char>(buffer_.data() + begin_, end_ - begin_);
}

}  // namespace sotto
