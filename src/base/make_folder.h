#pragma once
// A folder to write into.

#include "base/files.h"

namespace sotto {

// With all above it; one that is there already stays as it is.
Status make_folder(const fs::path& folder);

}  // namespace sotto
