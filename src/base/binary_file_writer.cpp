#include <algorithm>
#include <limits>
#include <utility>

#include "base/binary_file.h"
#include "base/binary_format.h"

namespace sotto {

namespace format = binary_format;

BinaryFileWriter::BinaryFileWriter(AtomicFile file, std::string_view kind, std::uint32_t version)
    : file_(std::move(file)), kind_(kind), version_(version) {}

Result<BinaryFileWriter> BinaryFileWriter::create(const fs::path& path, std::string_view kind,
                                                  std::uint32_t version) {
  if (!format::is_valid_name(kind, format::kind_bytes)) {
    return bad_input("'{}' cannot be the kind of a file: use 1 to {} printable characters without spaces",
                     kind, format::kind_bytes);
  }
  SOTTO_TRY(AtomicFile file, AtomicFile::create(path));
  // Room for the header, which is known at the end.
  SOTTO_CHECK(file.write(std::array<std::byte, format::header_bytes>{}));
  return BinaryFileWriter(std::move(file), kind, version);
}

Status BinaryFileWriter::add_text(std::string_view name, std::string_view text) {
  return add_bytes(name, std::as_bytes(std::span(text)), 1);
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
