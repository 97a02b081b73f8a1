#include "base/temporary_sibling.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <vector>

namespace sotto {

namespace fs = std::filesystem;

fs::path temporary_sibling(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() / fmt::format(".{}.sotto-{}-{}", path.filename().string(), ::getpid(), ++count);
}

bool is_temporary_sibling(const fs::path& path, std::string_view name) {
  return path.filename().string().starts_with(fmt::format(".{}.sotto-", name));
}

void remove_temporary_siblings(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string name = path.filename().string();
  std::error_code problem;
  std::vector<fs::path> abandoned;
  for (fs::directory_iterator entry(parent, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (is_temporary_sibling(entry->path(), name)) abandoned.push_back(entry->path());
  }
  for (const fs::path& one : abandoned) fs::remove(one, problem);
}

void sync_parent(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace sotto
