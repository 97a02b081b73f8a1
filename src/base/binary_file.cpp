#include "base/binary_file.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/thread_pool.h"

namespace sotto {

namespace format = binary_format;

namespace {

tl::unexpected<Error> damaged(const fs::path& path, std::string_view how) {
  return bad_input("{} is damaged: {}; restore it from a copy or create it again", path.string(), how);
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

Result<BinaryFileReader> BinaryFileReader::open(const fs::path& path, std::string_view kind,
                                                std::uint32_t version) {
  SOTTO_TRY(MappedFile map, MappedFile::open(path));
  BinaryFileReader reader(std::move(map), path);
  SOTTO_CHECK(reader.check_header(kind, version));
  SOTTO_TRY(const auto checksums, reader.read_table());
  SOTTO_CHECK(reader.check_sections(checksums));
  return reader;
}

// After this the table lies inside the file and its bytes are those that were written.
Status BinaryFileReader::check_header(std::string_view kind, std::uint32_t version) const {
  const auto file = map_.bytes();
  const std::string_view start(reinterpret_cast<const char*>(file.data()),
                               std::min(file.size(), format::magic.size()));
  if (start != format::magic) {
    return bad_input("{} is not a Sotto file, expected a {} file", path_.string(), kind);
  }
  if (file.size() < format::header_bytes) return damaged(path_, "it ends inside the header");
  const auto container = format::load<std::uint32_t>(file, format::container_version_at);
  if (container != format::container_version) {
    return bad_input("{} has container version {}, this program reads version {}; use a matching program",
                     path_.string(), container, format::container_version);
  }
  const auto table_offset = format::load<std::uint64_t>(file, format::table_offset_at);
  const std::uint64_t table_bytes =
      std::uint64_t{format::load<std::uint32_t>(file, format::section_count_at)} * format::entry_bytes;
  if (table_offset < format::header_bytes || table_offset > file.size() ||
      table_bytes > file.size() - table_offset) {
    return damaged(path_, "it ends before its table of sections");
  }
  if (table_bytes != file.size() - table_offset) return damaged(path_, "bytes follow its table of sections");
  if (format::checksum(file.first(format::header_bytes), file.subspan(table_offset)) !=
      format::load<std::uint64_t>(file, format::checksum_at)) {
    return damaged(path_, "the checksum of its header does not match");
  }
  const auto stored_kind = format::load_name(file.subspan(format::kind_at, format::kind_bytes));
  if (stored_kind != kind)
    return bad_input("{} is a {} file, expected {}", path_.string(), stored_kind, kind);
  if (const auto stored = format::load<std::uint32_t>(file, format::content_version_at); stored != version) {
    return bad_input("{} is a {} file of version {}, this program reads version {}; create it again",
                     path_.string(), kind, stored, version);
  }
  return {};
}

// A correct checksum does not make the table honest: anyone can compute one.
Result<std::vector<std::uint64_t>> BinaryFileReader::read_table() {
  const auto file = map_.bytes();
  const auto table_offset = format::load<std::uint64_t>(file, format::table_offset_at);
  const auto table = file.subspan(table_offset);
  const std::size_t count = table.size() / format::entry_bytes;
  sections_.reserve(count);
  std::vector<std::uint64_t> checksums;
  checksums.reserve(count);
  std::uint64_t expected_offset = format::header_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = table.subspan(i * format::entry_bytes, format::entry_bytes);
    const std::string name(format::load_name(entry.subspan(format::name_at, format::name_bytes)));
    const auto offset = format::load<std::uint64_t>(entry, format::offset_at);
    const auto bytes = format::load<std::uint64_t>(entry, format::bytes_at);
    const auto element_size = format::load<std::uint32_t>(entry, format::element_size_at);
    if (name.empty()) return damaged(path_, fmt::format("section {} has no valid name", i));
    if (offset < expected_offset) return damaged(path_, fmt::format("section '{}' overlaps another", name));
    if (offset > table_offset || bytes > table_offset - offset) {
      return damaged(path_, fmt::format("section '{}' reaches out of the file", name));
    }
    if (offset != expected_offset) return damaged(path_, fmt::format("section '{}' is misplaced", name));
    if (element_size == 0 || bytes % element_size != 0) {
      return damaged(path_, fmt::format("section '{}' does not hold whole elements", name));
    }
    if (!all_zero(entry.subspan(format::reserved_at, sizeof(std::uint32_t)))) {
      return damaged(path_, fmt::format("the table entry of section '{}' is malformed", name));
    }
    expected_offset = format::aligned(offset + bytes);
    sections_.push_back({name, offset, bytes, element_size});
    checksums.push_back(format::load<std::uint64_t>(entry, format::section_checksum_at));
  }
  if (expected_offset != table_offset)
    return damaged(path_, "its sections do not end where its table begins");

  std::vector<std::string> sorted = names();
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return damaged(path_, fmt::format("section '{}' is there twice", *twice));
  }
  return checksums;
}

Status BinaryFileReader::check_sections(std::span<const std::uint64_t> checksums) const {
  const auto file = map_.bytes();
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::atomic<std::size_t> first_bad{none};
  parallel_for(sections_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Section& section = sections_[i];
      const auto stop = section.offset + section.bytes;
      if (format::checksum(file.subspan(section.offset, section.bytes)) == checksums[i] &&
          all_zero(file.subspan(stop, format::aligned(stop) - stop))) {
        continue;
      }
      std::size_t seen = first_bad;
      while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
      }
    }
  });
  if (first_bad == none) return {};
  return damaged(path_,
                 fmt::format("the checksum of section '{}' does not match", sections_[first_bad].name));
}

const BinaryFileReader::Section* BinaryFileReader::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

bool BinaryFileReader::has(std::string_view name) const { return find(name) != nullptr; }

Result<std::string_view> BinaryFileReader::text(std::string_view name) const {
  SOTTO_TRY(const auto bytes, section_bytes(name, 1));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<std::string> BinaryFileReader::names() const {
  std::vector<std::string> names;
  names.reserve(sections_.size());
  for (const Section& section : sections_) names.push_back(section.name);
  return names;
}

Result<std::span<const std::byte>> BinaryFileReader::section_bytes(std::string_view name,
                                                                   std::size_t element_size) const {
  const Section* section = find(name);
  if (section == nullptr) {
    return bad_input("{} has no section '{}'; create it again with this program", path_.string(), name);
  }
  if (section->element_size != element_size) {
    return bad_input(
        "section '{}' of {} has elements of {} bytes, expected {}; create it again with this program", name,
        path_.string(), section->element_size, element_size);
  }
  return map_.bytes().subspan(section->offset, section->bytes);
}

namespace format = binary_format;

BinaryFileWriter::BinaryFileWriter(AtomicFile file, std::string_view kind, std::uint32_t version)
    : file_(std::move(file)), kind_(kind), version_(version) {}

Result<BinaryFileWriter> BinaryFileWriter::create(const fs::path& path, std::string_view kind,
                                                  std::uint32_t version, FileReaders readers) {
  if (!format::is_valid_name(kind, format::kind_bytes)) {
    return bad_input("'{}' cannot be the kind of a file: use 1 to {} printable characters without spaces",
                     kind, format::kind_bytes);
  }
  SOTTO_TRY(AtomicFile file, AtomicFile::create(path, readers));
  // Room for the header, which is known at the end.
  SOTTO_CHECK(file.write(std::array<std::byte, format::header_bytes>{}));
  return BinaryFileWriter(std::move(file), kind, version);
}

Status BinaryFileWriter::add_text(std::string_view name, std::string_view text) {
  return add_bytes(name, std::as_bytes(std::span(text.data(), text.size())), 1);
}

Status BinaryFileWriter::add_bytes(std::string_view name, std::span<const std::byte> bytes,
                                   std::size_t element_size) {
  if (!format::is_valid_name(name, format::name_bytes)) {
    return bad_input("'{}' cannot name a section: use 1 to {} printable characters without spaces", name,
                     format::name_bytes);
  }
  const bool taken = std::any_of(sections_.begin(), sections_.end(),
                                 [&](const Section& section) { return section.name == name; });
  if (taken) return bad_input("section '{}' is written twice", name);
  if (element_size > std::numeric_limits<std::uint32_t>::max()) {
    return bad_input("section '{}' has elements of {} bytes; that is too large", name, element_size);
  }
  SOTTO_CHECK(pad());
  sections_.push_back({std::string(name), file_.size(), bytes.size(), format::checksum(bytes),
                       static_cast<std::uint32_t>(element_size)});
  return file_.write(bytes);
}

Status BinaryFileWriter::pad() {
  constexpr std::array<std::byte, format::alignment> zeros{};
  return file_.write(std::span(zeros).first(format::aligned(file_.size()) - file_.size()));
}

Status BinaryFileWriter::commit() {
  SOTTO_CHECK(pad());
  std::vector<std::byte> table(sections_.size() * format::entry_bytes);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const auto entry = std::span(table).subspan(i * format::entry_bytes, format::entry_bytes);
    format::store_name(entry.subspan(format::name_at, format::name_bytes), section.name);
    format::store(entry, format::offset_at, section.offset);
    format::store(entry, format::bytes_at, section.bytes);
    format::store(entry, format::element_size_at, section.element_size);
    format::store(entry, format::section_checksum_at, section.checksum);
  }

  std::array<std::byte, format::header_bytes> header{};
  const std::span<std::byte> fields(header);
  std::memcpy(header.data(), format::magic.data(), format::magic.size());
  format::store(fields, format::container_version_at, format::container_version);
  format::store_name(fields.subspan(format::kind_at, format::kind_bytes), kind_);
  format::store(fields, format::content_version_at, version_);
  format::store(fields, format::section_count_at, static_cast<std::uint32_t>(sections_.size()));
  format::store(fields, format::table_offset_at, file_.size());
  format::store(fields, format::checksum_at, format::checksum(header, table));

  SOTTO_CHECK(file_.write(table));
  SOTTO_CHECK(file_.overwrite(0, header));
  return file_.commit();
}

}  // namespace sotto

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
