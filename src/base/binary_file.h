#pragma once
// One versioned, checksummed container for everything Sotto stores: datasets, checkpoints, models.
//
//   header   "SOTTOBIN" | container version u32 | kind (16 bytes) | content version u32 | section count u32 |
//            table offset u64 | XXH3-64 of header and table
//   sections raw little-endian bytes, each at a multiple of 64
//   table    per section: name (48 bytes), offset u64, bytes u64, element size u32, reserved u32, XXH3-64 u64
//
// The reader maps the file and checks every size before it touches a byte; open() verifies all checksums.

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto {

// Writes sections in the order they are added. Not thread-safe. Without commit() nothing is left behind.
class BinaryFileWriter {
 public:
  static Result<BinaryFileWriter> create(const fs::path& path, std::string_view kind, std::uint32_t version,
                                         FileReaders readers = FileReaders::by_umask);

  template <class T>
  requires std::is_trivially_copyable_v<T> Status add(std::string_view name, std::span<const T> values) {
    return add_bytes(name, std::as_bytes(values), sizeof(T));
  }
  template <class T>
  Status add(std::string_view name, const std::vector<T>& values) {
    return add(name, std::span<const T>(values));
  }
  Status add_text(std::string_view name, std::string_view text);

  // Writes the table and makes the file appear under its name.
  Status commit();

 private:
  struct Section {
    std::string name;
    std::uint64_t offset, bytes, checksum;
    std::uint32_t element_size;
  };
  BinaryFileWriter(AtomicFile file, std::string_view kind, std::uint32_t version);
  Status add_bytes(std::string_view name, std::span<const std::byte> bytes, std::size_t element_size);
  Status pad();  // zeros up to the next section boundary

  AtomicFile file_;
  std::string kind_;
  std::uint32_t version_;
  std::vector<Section> sections_;
};

// Spans and texts returned live as long as the reader, also when it is moved. Any number of threads may read.
class BinaryFileReader {
 public:
  // Errors when the kind or the content version differ from what the caller understands.
  static Result<BinaryFileReader> open(const fs::path& path, std::string_view kind, std::uint32_t version);

  bool has(std::string_view name) const;
  template <class T>
  requires std::is_trivially_copyable_v<T> Result<std::span<const T>> section(std::string_view name)
  const {
    auto bytes = section_bytes(name, sizeof(T));
    if (!bytes) return tl::unexpected(bytes.error());
    return std::span<const T>(reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T));
  }
  Result<std::string_view> text(std::string_view name) const;
  std::vector<std::string> names() const;
  const fs::path& path() const { return path_; }

 private:
  struct Section {
    std::string name;
    std::uint64_t offset, bytes;
    std::uint32_t element_size;
  };
  BinaryFileReader(MappedFile map, fs::path path) : map_(std::move(map)), path_(std::move(path)) {}
  Status check_header(std::string_view kind, std::uint32_t version) const;
  Result<std::vector<std::uint64_t>> read_table();  // fills sections_, returns their checksums
  Status check_sections(std::span<const std::uint64_t> checksums) const;
  const Section* find(std::string_view name) const;
  Result<std::span<const std::byte>> section_bytes(std::string_view name, std::size_t element_size) const;

  MappedFile map_;
  fs::path path_;
  std::vector<Section> sections_;
};

}  // namespace sotto

namespace sotto::binary_format {

// The bytes of a BinaryFile, shared by its writer and reader. The layout is canonical: sections follow each
// other in table order, gaps are zero, nothing follows the table. So every byte of a file is either
// checksummed or has one allowed value.

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
