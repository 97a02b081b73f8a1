// Any bytes as a gzip, xz or zstd file, whatever its first bytes say: each decoder ends, stays at its end,
// and gives the same bytes in pieces of any size.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "memory_file.h"

namespace {

using namespace sotto;

constexpr std::size_t most_bytes = 256 << 10;  // of what may be a thousand times as much

struct Decoded {
  std::string bytes;
  bool complete = false;
};

Decoded decode(const std::string& path, Result<std::unique_ptr<ByteSource>> (*decoder)(FileInput&),
               std::size_t piece) {
  auto input = FileInput::open(path);
  if (!input) std::abort();
  auto source = decoder(*input);
  Decoded decoded;
  if (!source) return decoded;
  std::vector<char> out(piece);
  while (decoded.bytes.size() < most_bytes) {
    const auto read = (*source)->read(out);
    if (!read) return decoded;
    if (*read > piece) std::abort();
    if (*read == 0) {
      const auto after = (*source)->read(out);
      if (after && *after != 0) std::abort();
      decoded.complete = true;
      return decoded;
    }
    decoded.bytes.append(out.data(), *read);
  }
  return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  for (auto* decoder : {&decode_gzip, &decode_xz, &decode_zstd}) {
    const Decoded whole = decode(file.path(), decoder, 64 << 10);
    const Decoded pieces = decode(file.path(), decoder, 61);
    const std::size_t both = std::min(whole.bytes.size(), pieces.bytes.size());
    if (whole.bytes.compare(0, both, pieces.bytes, 0, both) != 0) std::abort();
    if (both < most_bytes && whole.complete != pieces.complete) std::abort();
    if (whole.complete && pieces.complete && whole.bytes != pieces.bytes) std::abort();
  }
  return 0;
}
