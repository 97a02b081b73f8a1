#pragma once
// Runs an importer on hostile files. Each input says for every file of a small valid data set whether it
// stays, is cut and spliced in places, or becomes arbitrary bytes. Whatever happens, the import must return,
// leave no temporary folder behind, and what it accepts must open as a data set.

#include <fuzzer/FuzzedDataProvider.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "data/importers/importers.h"

namespace sotto::fuzz {

struct ValidFile {
  std::string_view name, content;
};

// In memory where possible: each input writes files. Removed when the process ends.
class Workplace {
 public:
  Workplace() {
    set_progress_style(ProgressStyle::silent);
    const bool shared_memory = fs::is_directory("/dev/shm");
    std::string name = shared_memory ? "/dev/shm" : fs::temp_directory_path().string();
    name += "/sotto-fuzz-import-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  fs::path source() const { return path_ / "source"; }
  fs::path out() const { return path_ / "out"; }
  bool has_leftovers() const {
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path() != source() && entry.path() != out()) return true;
    }
    return false;
  }

 private:
  fs::path path_;
};

inline std::string spliced(std::string content, FuzzedDataProvider& input) {
  for (int edits = input.ConsumeIntegralInRange(1, 4); edits > 0; --edits) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, content.size());
    const auto erased = input.ConsumeIntegralInRange<std::size_t>(0, 64);
    content.replace(at, erased, input.ConsumeRandomLengthString(64));
  }
  return content;
}

inline void import_files(std::string_view kind, std::span<const ValidFile> files,
                         data::ImportSettings settings, const std::uint8_t* data, std::size_t size) {
  static Workplace workplace;
  FuzzedDataProvider input(data, size);
  settings.malformed_limit = input.ConsumeBool() ? 1.0 : 0.01;
  settings.replace = true;
  fs::remove_all(workplace.source());
  fs::create_directory(workplace.source());
  for (const ValidFile& file : files) {
    std::string content(file.content);
    const int choice = input.ConsumeIntegralInRange(0, 3);
    if (choice == 1 || choice == 2) content = spliced(std::move(content), input);
    if (choice == 3) content = input.ConsumeRandomLengthString(4096);
    const fs::path path = workplace.source() / file.name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  const auto result = data::import_dataset(kind, workplace.source(), workplace.out(), settings);
  if (workplace.has_leftovers()) abort();
  if (result && !data::Dataset::open(workplace.out())) abort();
  if (!result && result.error().message.empty()) abort();
}

}  // namespace sotto::fuzz
