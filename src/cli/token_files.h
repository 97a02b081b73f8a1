#pragma once
// Enrolment tokens as a file: a line of hexadecimal digits each. Whoever has one may enrol a device, so its
// owner alone may read the file.

#ifdef SOTTO_HAVE_PROTOCOL

#include "base/files.h"
#include "rounds/enrolment.h"

namespace sotto::cli {

std::string new_token(bool first_use, rounds::UtcTime expires, const rounds::Identity& operator_key);
// Refuses to replace a file.
Status write_tokens(const fs::path& path, std::size_t count, bool first_use, rounds::UtcTime expires,
                    const rounds::Identity& operator_key);
Result<std::vector<std::string>> read_tokens(const fs::path& path);
Result<std::string> token_from_hex(std::string_view text);

}  // namespace sotto::cli

#endif
