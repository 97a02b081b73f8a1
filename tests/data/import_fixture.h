#pragma once
// A source folder and an output folder for one import test.

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include "data/importers/importers.h"
#include "test_paths.h"

namespace sotto::data {

class ImportTest : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view content) {
    const fs::path file = source() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }
  // "key=value" settings; the data set comes back opened.
  Dataset import(std::string_view kind, std::initializer_list<std::string_view> assignments = {}) {
    auto result = try_import(kind, assignments);
    if (!result) throw std::runtime_error(result.error().message);
    summary = *result;
    auto dataset = Dataset::open(out());
    if (!dataset) throw std::runtime_error(dataset.error().message);
    return std::move(*dataset);
  }
  Result<ImportSummary> try_import(std::string_view kind,
                                   std::initializer_list<std::string_view> assignments = {}) {
    ImportSettings settings;
    SettingsTable table;
    settings.bind(table);
    for (const std::string_view assignment : assignments) SOTTO_CHECK(table.set_assignment(assignment));
    return import_dataset(kind, source(), out(), settings);
  }
  // The message of an import that must fail, with nothing left behind.
  std::string failure(std::string_view kind, std::initializer_list<std::string_view> assignments = {}) {
    const auto result = try_import(kind, assignments);
    if (result) return "the import succeeded";
    EXPECT_EQ(names_beside_source(), 0) << "a failed import left something behind";
    return result.error().message;
  }
  bool has_note(std::string_view part) const {
    for (const std::string& note : summary.notes) {
      if (note.find(part) != std::string::npos) return true;
    }
    return false;
  }

  fs::path source() const { return folder_ / "source"; }
  fs::path out() const { return folder_ / "out"; }
  ImportSummary summary;

 private:
  int names_beside_source() const {
    int names = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names += entry.path() == source() ? 0 : 1;
    return names;
  }
  void SetUp() override { fs::create_directories(source()); }
  TempFolder folder_;
};

inline std::vector<std::string> ids_of(const Dataset& dataset, std::span<const ItemId> items) {
  std::vector<std::string> ids;
  for (const ItemId item : items) ids.emplace_back(dataset.catalogue().ids[item]);
  return ids;
}

inline std::vector<std::string> names_of(const CategoricalFeature& feature, std::size_t row) {
  std::vector<std::string> names;
  for (const std::uint32_t code : feature.codes[row]) names.emplace_back(feature.names[code]);
  return names;
}

// The number of an item or user with that published id.
inline std::uint32_t row_of(const StringColumn& ids, std::string_view id) {
  for (std::uint32_t row = 0; row < ids.size(); ++row) {
    if (ids[row] == id) return row;
  }
  throw std::runtime_error("no such id: " + std::string(id));
}

}  // namespace sotto::data
