#pragma once
// What errno means to the user.

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace sotto {

// "cannot ACTION PATH: reason". A path that is missing, forbidden or of the wrong sort is the user's to fix
// (bad_input); everything else is the machine's failure.
tl::unexpected<Error> system_failure(std::string_view action, const std::filesystem::path& path,
                                     int error = errno);

}  // namespace sotto
