#pragma once
// Compressed bodies: what Content-Encoding calls zstd and gzip.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sotto::net {

enum class ContentCoding { zstd, gzip };
std::string_view name(ContentCoding coding);

// effort: 1 to 19 (gzip takes what is above 9 as 9). Nothing when the build is without the library or the
// bytes do not become smaller by a twentieth at least.
std::optional<std::string> compress(ContentCoding coding, std::string_view bytes, int effort);
// The bytes come from outside: an error when they are damaged, or would become more than `limit`.
Result<std::string> decompress_zstd(std::string_view bytes, std::size_t limit);

}  // namespace sotto::net
