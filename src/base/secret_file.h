#pragma once
// Tokens and private keys lie in files that their owner alone can read; others are refused, because whoever
// can read a key can be its owner.

#include "base/files.h"

namespace sotto {

// An error names the file, its mode and the command that mends it. A missing file is an error too.
Status check_secret_file(const fs::path& path);

}  // namespace sotto
