#pragma once
// Where tests find and leave files.

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace sotto {

// A new empty folder with a unique name, removed with everything in it on destruction.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sotto-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create the test folder " + name);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The folder of real datasets: $SOTTO_DATA, else shared/data next to the source tree. Tests skip when it is
// absent.
inline std::optional<std::filesystem::path> shared_data_directory() {
  std::error_code ignored;
  if (const char* named = std::getenv("SOTTO_DATA"); named != nullptr && *named != '\0') {
    if (std::filesystem::is_directory(named, ignored)) return named;
    return std::nullopt;
  }
  auto beside = std::filesystem::path(SOTTO_SOURCE_DIR) / ".." / "shared" / "data";
  if (std::filesystem::is_directory(beside, ignored)) return beside.lexically_normal();
  return std::nullopt;
}

}  // namespace sotto
