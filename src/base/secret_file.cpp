#include "base/secret_file.h"

#include <sys/stat.h>

#include "base/system_error.h"

namespace sotto {

Status check_secret_file(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return system_failure("read", path);
  constexpr mode_t others = S_IRWXG | S_IRWXO;
  if ((found.st_mode & others) == 0) return {};
  return bad_input(
      "{} has mode {:04o}, so that others than its owner can use the secret in it: run 'chmod 600 {}'",
      path.string(), found.st_mode & 07777U, path.string());
}

}  // namespace sotto
