#include <algorithm>
#include <array>

#include "base/byte_source.h"
#include "base/files.h"

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

}  // namespace sotto
