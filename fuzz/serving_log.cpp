// Any bytes as a catalogue's log: an error, or records that read back as they were. Bytes rarely have the
// right checksums by themselves, so they are also taken as the bodies of proper records.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serving/catalogue/catalogue_store.h"

namespace {

using sotto::serving::catalogue_format;

void read_log(std::string_view file) {
  auto reader = sotto::LogReader::open(catalogue_format, file);
  if (!reader) return;
  std::string_view body;
  while (true) {
    const auto more = reader->next(body);
    if (!more || !*more) break;
    const auto record = sotto::serving::decode_record(body);
    if (!record) continue;
    const std::string again = record->kind == sotto::serving::CatalogueRecord::Kind::put
                                  ? sotto::serving::encode_put(record->item)
                                  : sotto::serving::encode_remove(record->item.id);
    if (again != body) std::abort();
  }
  if (reader->complete_bytes() > file.size()) std::abort();
}

// Bodies of up to 255 bytes, each after its length.
std::string as_records(std::string_view bodies) {
  std::string file;
  auto encoder = sotto::LogEncoder::begin(catalogue_format, sotto::serving::catalogue_opening(1, 0), file);
  if (!encoder) std::abort();
  while (!bodies.empty()) {
    const auto length = static_cast<unsigned char>(bodies.front());
    bodies.remove_prefix(1);
    static_cast<void>(encoder->add(bodies.substr(0, length), file));
    bodies.remove_prefix(std::min<std::size_t>(length, bodies.size()));
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_log(bytes);
  read_log(as_records(bytes));
  return 0;
}
