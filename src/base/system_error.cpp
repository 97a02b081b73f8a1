#include "base/system_error.h"

#include <system_error>

namespace sotto {

tl::unexpected<Error> system_failure(std::string_view action, const std::filesystem::path& path, int error) {
  const bool users_to_fix = error == ENOENT || error == EACCES || error == EPERM || error == ENOTDIR ||
                            error == EISDIR || error == ENAMETOOLONG || error == ELOOP || error == EROFS;
  return tl::unexpected(
      Error{users_to_fix ? ErrorKind::bad_input : ErrorKind::failed,
            fmt::format("cannot {} {}: {}", action, path.string(), std::generic_category().message(error))});
}

}  // namespace sotto
