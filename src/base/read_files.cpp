#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/byte_source.h"
#include "base/files.h"
#include "base/system_error.h"

namespace sotto {

Result<std::string> read_file(const fs::path& path, std::uint64_t limit) {
  SOTTO_TRY(FileInput input, FileInput::open(path));
  SOTTO_TRY(const auto source, decode_by_magic(input));
  std::string content;
  // Grows with what really arrives: the sizes that headers claim are not believed.
  std::vector<char> part(std::size_t{64} << 10);
  while (true) {
    SOTTO_TRY(const std::size_t got, source->read(part));
    if (got == 0) return content;
    if (got > limit - content.size()) {
      return bad_input("{} holds more than {} bytes when decompressed; that is more than this file may have",
                       path.string(), limit);
    }
    content.append(part.data(), got);
  }
}

Result<fs::path> find_possibly_compressed(const fs::path& path) {
  constexpr std::array extensions = {"", ".xz", ".gz", ".zst"};
  for (const char* extension : extensions) {
    fs::path candidate = path;
    candidate += extension;
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return candidate;
  }
  return bad_input("{} does not exist, nor do {}.xz, {}.gz or {}.zst", path.string(),
                   path.filename().string(), path.filename().string(), path.filename().string());
}

struct LineReader::Stream {
  Stream(FileInput file, std::size_t longest) : input(std::move(file)), max_line(longest) {}

  FileInput input;
  std::size_t max_line;
  std::unique_ptr<ByteSource> source;
  // [begin, end) is read but not yet returned; [begin, searched) holds no line end.
  std::vector<char> buffer = std::vector<char>(std::size_t{256} << 10);
  std::size_t begin = 0, searched = 0, end = 0;
  bool at_end = false;
  std::uint64_t line_number = 0;

  Status read_more() {
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      searched -= begin;
      end -= begin;
      begin = 0;
    } else if (end == buffer.size()) {
      buffer.resize(buffer.size() * 2);
    }
    SOTTO_TRY(const std::size_t got, source->read(std::span(buffer).subspan(end)));
    end += got;
    at_end = got == 0;
    return {};
  }

  tl::unexpected<Error> too_long() const {
    return bad_input("{}:{}: line is longer than {} bytes; this is not the text file that is expected here",
                     input.path().string(), line_number + 1, max_line);
  }

  Result<bool> next(std::string_view& line) {
    const char* newline = nullptr;
    while (true) {
      const char* const from = buffer.data() + searched;
      newline = static_cast<const char*>(std::memchr(from, '\n', end - searched));
      searched = end;
      if (newline != nullptr || at_end) break;
      if (end - begin > max_line && end - begin - max_line > 1) return too_long();  // one more may be a '\r'
      SOTTO_CHECK(read_more());
    }
    if (newline == nullptr && begin == end) return false;

    const char* const first = buffer.data() + begin;
    const char* const stop = newline != nullptr ? newline : buffer.data() + end;
    line = std::string_view(first, static_cast<std::size_t>(stop - first));
    if (newline != nullptr && line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > max_line) return too_long();
    begin = static_cast<std::size_t>(stop - buffer.data()) + (newline != nullptr ? 1 : 0);
    searched = begin;
    ++line_number;
    return true;
  }
};

LineReader::LineReader(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(const fs::path& path, std::size_t max_line) {
  SOTTO_TRY(const fs::path found, find_possibly_compressed(path));
  SOTTO_TRY(FileInput input, FileInput::open(found));
  auto stream = std::make_unique<Stream>(std::move(input), max_line);
  SOTTO_TRY(stream->source, decode_by_magic(stream->input));
  return LineReader(std::move(stream));
}

Result<bool> LineReader::next(std::string_view& line) { return stream_->next(line); }
std::uint64_t LineReader::line_number() const { return stream_->line_number; }
std::uint64_t LineReader::compressed_bytes_read() const { return stream_->input.bytes_read(); }
const fs::path& LineReader::path() const { return stream_->input.path(); }

namespace {

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

Result<MappedFile> MappedFile::open(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_failure("read", path);
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const int error = errno;
    ::close(descriptor);
    if (!known) return system_failure("read", path, error);
    return bad_input("cannot read {}: it is not a regular file", path.string());
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = nullptr;  // an empty file cannot be mapped
  if (size > 0) address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) return system_failure("map", path, error);
  return MappedFile(std::span(static_cast<const std::byte*>(address), size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap(bytes_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() { unmap(bytes_); }

}  // namespace sotto
