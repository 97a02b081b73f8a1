#include "text/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.h"
#include "text/safetensors_header.h"

namespace sotto {

static_assert(std::endian::native == std::endian::little, "views of tensors are little-endian");

namespace {

constexpr std::uint64_t max_header_bytes = std::uint64_t{16} << 20;
constexpr std::size_t length_bytes = 8;

// Elements times their size; nothing when that does not fit 64 bits.
std::optional<std::uint64_t> bytes_needed(TensorType type, std::span<const std::uint64_t> shape) {
  std::uint64_t bytes = bytes_of(type);
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

}  // namespace

std::string_view name_of(TensorType type) {
  constexpr std::string_view names[] = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16",
                                        "I8",  "U64", "U32", "U16",  "U8",  "BOOL"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t bytes_of(TensorType type) {
  constexpr std::uint8_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return sizes[static_cast<std::size_t>(type)];
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<TensorViews> parse_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < length_bytes)
    return bad_input("{} bytes are too few for a safetensors file", bytes.size());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), length_bytes);
  const auto rest = bytes.subspan(length_bytes);
  if (header_bytes > max_header_bytes)
    return bad_input("a header of {} bytes is promised; at most {} are accepted: is this a safetensors file?",
                     header_bytes, max_header_bytes);
  if (header_bytes > rest.size())
    return bad_input("a header of {} bytes is promised, {} are there: the file is cut", header_bytes,
                     rest.size());
  const auto header = rest.first(static_cast<std::size_t>(header_bytes));
  const auto data = rest.subspan(header.size());
  if (header.empty() || header.front() != std::byte{'{'})
    return bad_input("the header does not start with '{{'");
  SOTTO_TRY(auto entries,
            parse_safetensors_header({reinterpret_cast<const char*>(header.data()), header.size()}));

  TensorViews views;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (auto& [name, entry] : entries) {
    if (entry.begin > entry.end || entry.end > data.size())
      return bad_input("tensor '{}': bytes {} to {} lie outside the {} bytes of data", name, entry.begin,
                       entry.end, data.size());
    const auto needed = bytes_needed(entry.type, entry.shape);
    if (needed != entry.end - entry.begin)
      return bad_input("tensor '{}': {} bytes are not what {} of shape {} takes", name,
                       entry.end - entry.begin, name_of(entry.type), shape_text(entry.shape));
    places.emplace_back(entry.begin, entry.end);
    const auto view = data.subspan(static_cast<std::size_t>(entry.begin),
                                   static_cast<std::size_t>(entry.end - entry.begin));
    views.emplace(name, TensorView{entry.type, std::move(entry.shape), view});
  }
  std::sort(places.begin(), places.end());
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : places) {
    if (begin != covered)
      return bad_input("the tensors {} at byte {} of the data", begin < covered ? "overlap" : "leave a gap",
                       std::min(begin, covered));
    covered = end;
  }
  if (covered != data.size())
    return bad_input("{} bytes at the end belong to no tensor", data.size() - covered);
  return views;
}

Result<SafetensorsFile> SafetensorsFile::open(const fs::path& path) {
  SOTTO_TRY(auto file, MappedFile::open(path));
  auto tensors = parse_safetensors(file.bytes());
  if (!tensors) return tl::unexpected(std::move(tensors).error().in(path.string()));
  return SafetensorsFile(std::move(file), std::move(*tensors));
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Status write_safetensors(const fs::path& path, const TensorViews& tensors) {
  auto header = nlohmann::json::object();
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name.empty() || name == "__metadata__" || !is_utf8(name))
      return bad_input("cannot write {}: a tensor cannot be called '{}'", path.string(), name);
    std::uint64_t bytes = bytes_of(tensor.type);
    for (const std::uint64_t extent : tensor.shape) bytes *= extent;
    if (bytes != tensor.bytes.size())
      return bad_input("cannot write {}: tensor '{}' has {} bytes, its shape {} needs {}", path.string(),
                       name, tensor.bytes.size(), shape_text(tensor.shape), bytes);
    header[name] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors of 8-byte elements come to lie aligned
  const std::uint64_t length = text.size();
  SOTTO_TRY(auto file, AtomicFile::create(path));
  SOTTO_CHECK(file.write(std::as_bytes(std::span(&length, 1))));
  SOTTO_CHECK(file.write(text));
  for (const auto& [name, tensor] : tensors) SOTTO_CHECK(file.write(tensor.bytes));
  return file.commit();
}

}  // namespace sotto
