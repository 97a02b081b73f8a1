#include "formats/numpy_files.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

namespace sotto::formats {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

namespace {

constexpr std::size_t header_alignment = 64;

template <class T>
void append(std::string& bytes, T number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof number);
}

// What both headers of a member say. Times are those of zip's first day: the same arrays make the same file.
std::string member_fields(std::uint32_t checksum, std::uint32_t size, std::uint16_t name_size) {
  std::string fields;
  append<std::uint16_t>(fields, 20);               // needs version 2.0
  append<std::uint16_t>(fields, 0x800);            // names are UTF-8
  append<std::uint16_t>(fields, 0);                // stored
  append<std::uint16_t>(fields, 0);                // midnight
  append<std::uint16_t>(fields, (1U << 5U) | 1U);  // 1 January 1980
  append(fields, checksum);
  append(fields, size);  // stored
  append(fields, size);  // as it is
  append(fields, name_size);
  append<std::uint16_t>(fields, 0);  // nothing extra
  return fields;
}

bool stays_inside(std::string_view name) {
  return !name.empty() && name.size() < 512 && name.front() != '/' &&
         name.find("..") == std::string_view::npos && name.find('\\') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

std::uint32_t zip_checksum(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t byte = 0; byte < made.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
      made[byte] = rest;
    }
    return made;
  }();
  std::uint32_t sum = ~0U;
  for (const char byte : bytes) sum = table[(sum ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (sum >> 8U);
  return ~sum;
}

std::string npy_bytes(const NamedArray& array) {
  std::string shape;
  for (const std::uint64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);  // "(3,)" keeps its comma, "(3, 4)" has none behind
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape);
  constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
  const std::size_t used = magic.size() + sizeof(std::uint16_t) + header.size() + 1;
  header.append((header_alignment - used % header_alignment) % header_alignment, ' ');
  header += '\n';
  std::string bytes(magic);
  append(bytes, static_cast<std::uint16_t>(header.size()));
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(float));
  return bytes;
}

Result<std::string> npz_bytes(std::span<const NamedArray> arrays) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() / 2;
  std::uint64_t total = 0;
  std::set<std::string_view> names;
  for (const NamedArray& array : arrays) {
    total += array.values.size() * sizeof(float) + 1024;
    if (!stays_inside(array.name))
      return bad_input("an array called '{}' cannot stand in an archive", array.name);
    if (!names.insert(array.name).second) return bad_input("two arrays are called '{}'", array.name);
  }
  if (total > most || arrays.size() > std::numeric_limits<std::uint16_t>::max())
    return bad_input("{} bytes in {} arrays are too many for an npz archive: export to safetensors", total,
                     arrays.size());
  std::string archive, directory;
  for (const NamedArray& array : arrays) {
    const std::string name = array.name + ".npy", bytes = npy_bytes(array);
    const auto offset = static_cast<std::uint32_t>(archive.size());
    const std::string fields = member_fields(zip_checksum(bytes), static_cast<std::uint32_t>(bytes.size()),
                                             static_cast<std::uint16_t>(name.size()));
    archive += "PK\x03\x04";
    for (const std::string* part : {&fields, &name, &bytes}) archive += *part;
    directory += "PK\x01\x02";
    append<std::uint16_t>(directory, 20);  // made by version 2.0
    directory += fields;
    append<std::uint16_t>(directory, 0);  // no comment
    append<std::uint16_t>(directory, 0);  // first disk
    append<std::uint16_t>(directory, 0);  // binary
    append<std::uint32_t>(directory, 0);  // no attributes
    append(directory, offset);
    directory += name;
  }
  const auto begin = static_cast<std::uint32_t>(archive.size());
  archive += directory + std::string("PK\x05\x06\0\0\0\0", 8);
  append(archive, static_cast<std::uint16_t>(arrays.size()));
  append(archive, static_cast<std::uint16_t>(arrays.size()));
  append(archive, static_cast<std::uint32_t>(directory.size()));
  append(archive, begin);
  append<std::uint16_t>(archive, 0);  // no comment
  return archive;
}

}  // namespace sotto::formats
