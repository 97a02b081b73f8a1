#include "base/make_folder.h"

namespace sotto {

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failed("cannot create {}: {}", folder.string(), error.message());
  return {};
}

}  // namespace sotto
