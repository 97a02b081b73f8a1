// Any bytes as a file of headlines or as what a newsroom knows of itself: an error, or headlines with a
// category and a title.

#include "data/newsroom/headlines.h"

#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/utf8.h"
#include "data/newsroom/oracle.h"
#include "import_fuzz.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sotto::MemoryFile file(data, size);
  if (const auto lines = sotto::data::newsroom::read_headlines(file.path()))
    for (const auto& line : *lines)
      if (line.title.empty() || line.category.empty() || !sotto::is_utf8(line.title)) std::abort();
  static const sotto::fuzz::Workplace workplace;
  sotto::fs::create_directories(workplace.source());
  std::ofstream(workplace.source() / "oracle.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  static_cast<void>(sotto::data::read_oracle(workplace.source()));
  return 0;
}
