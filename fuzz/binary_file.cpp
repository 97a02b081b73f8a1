// BinaryFileReader on any bytes: it refuses them or returns sections that lie inside the file.
// The checksum of header and table is made right first, else no input would get past it.
#include "base/binary_file.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/binary_format.h"

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

void touch_everything(const sotto::BinaryFileReader& reader) {
  unsigned sum = 0;
  for (const auto& name : reader.names()) {
    if (!reader.has(name)) std::abort();
    if (const auto text = reader.text(name)) {
      for (const char c : *text) sum += static_cast<unsigned char>(c);
    }
    if (const auto numbers = reader.section<std::uint64_t>(name)) {
      for (const std::uint64_t number : *numbers) sum += static_cast<unsigned>(number);
    }
  }
  static volatile unsigned sink;
  sink = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/tmp/sotto-fuzz-binary-file-" + std::to_string(getpid());
  for (const bool repaired : {false, true}) {
    std::string file(reinterpret_cast<const char*>(data), size);
    if (repaired) repair_checksum(file);
    std::ofstream(path, std::ios::binary).write(file.data(), static_cast<std::streamsize>(file.size()));
    if (const auto reader = sotto::BinaryFileReader::open(path, "fuzz", 1)) touch_everything(*reader);
  }
  unlink(path.c_str());
  return 0;
}
