// Any bytes as the mapping of the csv importer: an error, or a mapping that names a kind of behaviour.

#include "data/importers/csv_mapping.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto mapping = sotto::data::parse_csv_mapping(bytes, "mapping.toml");
  if (!mapping) {
    if (mapping.error().message.empty()) std::abort();
    return 0;
  }
  if (!mapping->interactions && !mapping->impressions) std::abort();
  if (mapping->format.delimiter.empty()) std::abort();
  return 0;
}
