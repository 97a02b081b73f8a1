// BinaryFileReader on any bytes: it refuses them or returns sections that lie inside the file.
// The checksum of header and table is made right first, else no input would get past it.
#include "base/binary_file.h"

#include <cstdlib>
#include <string>

#include "memory_file.h"

namespace format = sotto::binary_format;

namespace {

void repair_checksum(std::string& file) {
  const auto bytes = std::as_writable_bytes(std::span(file));
  if (bytes.size() < format::header_bytes) return;
  const auto table_offset = format::load<std::uint64_t>(bytes, format::table_offset_at);
  if (table_offset > bytes.size()) return;
  format::store(bytes, format::checksum_at,
                format::checksum(bytes.first(format::header_bytes), bytes.subspan(table_offset)));
}

// Checksums read every byte.
void touch_everything(const sotto::BinaryFileReader& reader) {
  for (const auto& name : reader.names()) {
    if (!reader.has(name)) std::abort();
    if (const auto text = reader.text(name)) format::checksum(std::as_bytes(std::span(*text)));
    if (const auto numbers = reader.section<std::uint64_t>(name)) format::checksum(std::as_bytes(*numbers));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string content(reinterpret_cast<const char*>(data), size);
  for (const bool repaired : {false, true}) {
    if (repaired) repair_checksum(content);
    const sotto::MemoryFile file(content.data(), content.size());
    if (const auto reader = sotto::BinaryFileReader::open(file.path(), "fuzz", 1)) touch_everything(*reader);
  }
  return 0;
}
