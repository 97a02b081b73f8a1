#include <algorithm>
#include <cstring>

#include "base/byte_source.h"
#include "base/files.h"

namespace sotto {

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

}  // namespace sotto
