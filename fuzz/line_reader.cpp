// LineReader and read_file on any bytes, compressed or not: they end, stay within their limits and agree.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t longest_line = 1000;
  const sotto::MemoryFile file(data, size);

  auto reader = sotto::LineReader::open(file.path(), longest_line);
  std::string lines;
  bool complete = false;
  if (reader) {
    std::string_view line;
    auto more = reader->next(line);
    while (more && *more && lines.size() + reader->line_number() < (1 << 20)) {
      if (line.size() > longest_line || line.find('\n') != std::string_view::npos) std::abort();
      lines += line;
      more = reader->next(line);
    }
    complete = more && !*more;
  }
  if (complete) {
    const auto whole = sotto::read_file(file.path(), 1 << 24);
    if (!whole) std::abort();
    // Only line ends may be missing from what the lines hold.
    std::size_t at = 0;
    for (const char c : *whole) {
      if (at < lines.size() && lines[at] == c && c != '\n') {
        ++at;
      } else if (c != '\n' && c != '\r') {
        std::abort();
      }
    }
    if (at != lines.size()) std::abort();
  }
  return 0;
}
