#pragma once
// Tokens and private keys lie in files that their owner alone can read; others are refused, because whoever
// can read a key of this server can be this server.

#include "base/files.h"

namespace sotto::net {

// An error names the file, its mode and the command that mends it. A missing file is an error too.
Status check_secret_file(const fs::path& path);

}  // namespace sotto::net
