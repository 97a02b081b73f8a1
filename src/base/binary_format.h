#pragma once
// The bytes of a BinaryFile, shared by its writer and reader. The layout is canonical: sections follow each
// other in table order, gaps are zero, nothing follows the table. So every byte of a file is either
// checksummed or has one allowed value.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sotto::binary_format {

static_assert(std::endian::native == std::endian::little, "sections are stored as they lie in memory");

constexpr std::string_view magic = "SOTTOBIN";
constexpr std::uint32_t container_version = 1;
constexpr std::size_t alignment = 64;
constexpr std::size_t header_bytes = 64;
constexpr std::size_t kind_bytes = 16;
constexpr std::size_t name_bytes = 48;
constexpr std::size_t entry_bytes = 80;

// Offsets in the header.
constexpr std::size_t container_version_at = 8, kind_at = 12, content_version_at = 28, section_count_at = 32,
                      table_offset_at = 36, checksum_at = 44;
// Offsets in a table entry.
constexpr std::size_t name_at = 0, offset_at = 48, bytes_at = 56, element_size_at = 64, reserved_at = 68,
                      section_checksum_at = 72;

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + alignment - 1) / alignment * alignment;
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.subspan(at, sizeof(T)).data(), sizeof(T));
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.subspan(at, sizeof(T)).data(), &value, sizeof(T));
}

// Kinds and section names: 1 to `room` printable ASCII characters without spaces, padded with zeros.
bool is_valid_name(std::string_view name, std::size_t room);
void store_name(std::span<std::byte> field, std::string_view name);
// Empty when the field does not hold a valid name.
std::string_view load_name(std::span<const std::byte> field);

std::uint64_t checksum(std::span<const std::byte> bytes);
// Of the header (its checksum field taken as zero) and the table.
std::uint64_t checksum(std::span<const std::byte> header, std::span<const std::byte> table);

}  // namespace sotto::binary_format
