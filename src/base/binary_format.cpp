#include "base/binary_format.h"

#include <xxhash.h>

#include <algorithm>

namespace sotto::binary_format {

bool is_valid_name(std::string_view name, std::size_t room) {
  return !name.empty() && name.size() <= room &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

void store_name(std::span<std::byte> field, std::string_view name) {
  std::memcpy(field.data(), name.data(), name.size());
}

std::string_view load_name(std::span<const std::byte> field) {
  const std::string_view whole(reinterpret_cast<const char*>(field.data()), field.size());
  const std::string_view name = whole.substr(0, whole.find('\0'));
  const bool padded_with_zeros = whole.find_first_not_of('\0', name.size()) == std::string_view::npos;
  return padded_with_zeros && is_valid_name(name, field.size()) ? name : std::string_view();
}

std::uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t checksum(std::span<const std::byte> header, std::span<const std::byte> table) {
  std::array<std::byte, header_bytes> cleared;
  std::copy_n(header.begin(), header_bytes, cleared.begin());
  store(std::span<std::byte>(cleared), checksum_at, std::uint64_t{0});
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, cleared.data(), cleared.size());
  XXH3_64bits_update(&state, table.data(), table.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace sotto::binary_format
