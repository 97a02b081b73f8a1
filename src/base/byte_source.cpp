#include "base/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/system_error.h"

namespace sotto {

namespace {
constexpr std::size_t read_buffer_bytes = std::size_t{64} << 10;
}

FileInput::FileInput(int descriptor, fs::path path)
    : descriptor_(descriptor), path_(std::move(path)), buffer_(read_buffer_bytes) {}

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

namespace {

using namespace std::string_view_literals;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(FileInput& input) : input_(input) {}
  Result<std::size_t> read(std::span<char> out) override {
    SOTTO_TRY(const auto at_hand, input_.peek());
    const std::size_t bytes = std::min(out.size(), at_hand.size());
    std::copy_n(at_hand.begin(), bytes, out.begin());
    input_.consume(bytes);
    return bytes;
  }

 private:
  FileInput& input_;
};

struct Format {
  std::string_view magic;
  std::string_view extension;
  Result<std::unique_ptr<ByteSource>> (*decode)(FileInput&);
};

constexpr std::array formats = {
    Format{"\xFD"
           "7zXZ\0"sv,
           ".xz", decode_xz},
    Format{"\x1F\x8B"sv, ".gz", decode_gzip},
    Format{"\x28\xB5\x2F\xFD"sv, ".zst", decode_zstd},
};
constexpr std::size_t longest_magic = 6;

// Tools that compress in parallel put a skippable frame (0x184D2A50 to 0x184D2A5F) in front.
bool is_zstd_skippable(std::string_view start) {
  return start.size() >= 4 && (start[0] & 0xF0) == 0x50 && start.substr(1, 3) == "\x2A\x4D\x18"sv;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> decode_by_magic(FileInput& input) {
  SOTTO_TRY(const auto at_hand, input.peek_at_least(longest_magic));
  const std::string_view start(at_hand.data(), at_hand.size());
  for (const Format& format : formats) {
    if (start.starts_with(format.magic)) return format.decode(input);
    // Cut off inside the signature the file would pass for a short text.
    if (input.path().extension() == format.extension && format.magic.starts_with(start)) {
      return bad_input("{} is cut off: it has only {} bytes; copy or download it again",
                       input.path().string(), start.size());
    }
  }
  if (is_zstd_skippable(start)) return decode_zstd(input);
  return std::make_unique<PlainSource>(input);
}

}  // namespace sotto
