#pragma once
// The sections of a dataset file as plain bytes that can be changed and written back with valid checksums, so
// that tests and the fuzzer reach the structural checks behind them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/binary_file.h"
#include "data/dataset_sections.h"

namespace sotto::data {

struct EditedSection {
  std::string name;
  std::size_t element_size = 1;
  std::vector<std::uint8_t> bytes;
};

class EditedSections {
 public:
  explicit EditedSections(const std::filesystem::path& directory) {
    const auto file = BinaryFileReader::open(directory / dataset_sections::file_name, dataset_sections::kind,
                                             dataset_sections::version);
    if (!file) throw std::runtime_error(file.error().message);
    for (const std::string& name : file->names()) {
      if (!read_as<std::uint8_t>(*file, name) && !read_as<std::uint32_t>(*file, name) &&
          !read_as<std::uint64_t>(*file, name)) {
        throw std::runtime_error("section " + name + " has elements of an unknown size");
      }
    }
  }

  std::vector<EditedSection>& all() { return sections_; }

  void remove(std::string_view name) {
    std::erase_if(sections_, [&](const EditedSection& section) { return section.name == name; });
  }

  template <class T>
  std::vector<T> values(std::string_view name) {
    std::vector<T> values(find(name).bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), find(name).bytes.data(), values.size() * sizeof(T));
    return values;
  }

  template <class T>
  void replace(std::string_view name, const std::vector<T>& values) {
    EditedSection& section = find(name);
    section.element_size = sizeof(T);
    section.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(section.bytes.data(), values.data(), section.bytes.size());
  }

  template <class T>
  void set(std::string_view name, std::size_t row, T value) {
    std::vector<T> column = values<T>(name);
    column.at(row) = value;
    replace(name, column);
  }

  Status write(const std::filesystem::path& directory) const {
    SOTTO_TRY(BinaryFileWriter writer,
              BinaryFileWriter::create(directory / dataset_sections::file_name, dataset_sections::kind,
                                       dataset_sections::version));
    for (const EditedSection& section : sections_) {
      if (section.element_size == 8) {
        SOTTO_CHECK(add_as<std::uint64_t>(writer, section));
      } else if (section.element_size == 4) {
        SOTTO_CHECK(add_as<std::uint32_t>(writer, section));
      } else {
        SOTTO_CHECK(add_as<std::uint8_t>(writer, section));
      }
    }
    return writer.commit();
  }

 private:
  EditedSection& find(std::string_view name) {
    for (EditedSection& section : sections_) {
      if (section.name == name) return section;
    }
    throw std::runtime_error("no section " + std::string(name));
  }

  template <class T>
  bool read_as(const BinaryFileReader& file, const std::string& name) {
    const auto values = file.section<T>(name);
    if (!values) return false;
    const auto bytes = std::as_bytes(*values);
    EditedSection& section = sections_.emplace_back(EditedSection{name, sizeof(T), {}});
    section.bytes.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(section.bytes.data(), bytes.data(), bytes.size());
    return true;
  }

  template <class T>
  static Status add_as(BinaryFileWriter& writer, const EditedSection& section) {
    std::vector<T> values(section.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), section.bytes.data(), values.size() * sizeof(T));
    return writer.add(section.name, values);
  }

  std::vector<EditedSection> sections_;
};

}  // namespace sotto::data
