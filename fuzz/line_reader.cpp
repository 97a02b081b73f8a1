// LineReader and read_file on any bytes, compressed or not: they end, stay within their limits and agree.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/tmp/sotto-fuzz-line-reader-" + std::to_string(getpid());
  constexpr std::size_t longest_line = 1000;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));

  auto reader = sotto::LineReader::open(path, longest_line);
  std::string lines;
  bool complete = false;
  if (reader) {
    std::string_view line;
    auto more = reader->next(line);
    while (more && *more && lines.size() < (1 << 20)) {
      if (line.size() > longest_line || line.find('\n') != std::string_view::npos) std::abort();
      lines += line;
      more = reader->next(line);
    }
    complete = more && !*more;
  }
  if (complete) {
    const auto whole = sotto::read_file(path, 1 << 24);
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
  unlink(path.c_str());
  return 0;
}
