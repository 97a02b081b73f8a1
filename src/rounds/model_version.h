#pragma once
// What devices fetch before a round, each named by the SHA-256 of its bytes: a version of the numbers that
// are trained, and the public table of items that these numbers are read with. The order of a round names the
// version, and the version names the table. One encoding each; bytes from outside are checked fully before
// anything is returned. Plain values.

#include <string>
#include <string_view>
#include <vector>

#include "rounds/document.h"

namespace sotto::rounds {

Digest blob_hash(std::string_view bytes);  // SHA-256

struct ModelVersion {
  std::string layout;          // "name:size name:size ", of which the campaign has the hash
  std::vector<float> numbers;  // in that order
  Digest items{};              // hash of the table
  bool operator==(const ModelVersion&) const = default;
};
// What is not finite is refused on both sides.
Result<std::string> encode(const ModelVersion& version);
Result<ModelVersion> decode_model(std::string_view bytes);

struct ItemTable {
  std::vector<std::string> ids;  // ascending, each once
  std::uint32_t dimension = 0;
  std::vector<float> vectors;  // [ids, dimension], finite
  std::size_t size() const { return ids.size(); }
  bool operator==(const ItemTable&) const = default;
};
Result<std::string> encode(const ItemTable& table);
Result<ItemTable> decode_items(std::string_view bytes);

struct BlobLimits {
  static constexpr std::size_t layout_bytes = 1 << 16;
  static constexpr std::size_t numbers = std::size_t{1} << 26;
  static constexpr std::size_t items = 4'000'000;
  static constexpr std::size_t id_bytes = 1024;
  static constexpr std::size_t dimension = 4096;
  static constexpr std::size_t bytes = std::size_t{1} << 30;
};

}  // namespace sotto::rounds
