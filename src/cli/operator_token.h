#pragma once
// The token by which a server knows its operator, as a file that its owner alone can read.

#include "base/files.h"

namespace sotto::cli {

Result<std::string> read_operator_token(const fs::path& path);

}  // namespace sotto::cli
