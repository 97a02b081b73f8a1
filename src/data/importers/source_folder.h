#pragma once
// Finding the files of a published data set, and saying what is there when they are not.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto {

// folder/name, plain or compressed.
std::optional<fs::path> find_file(const fs::path& folder, std::string_view name);

// Names of the entries of a folder, sorted; empty when it is not a folder.
std::vector<std::string> folder_entries(const fs::path& folder);

// "news.tsv.xz" -> "news.tsv".
std::string_view without_compression_suffix(std::string_view name);

// The files of a folder whose name without compression suffix is `wanted`, sorted; of a file that is there
// both plain and compressed, only one.
std::vector<fs::path> files_named(const fs::path& folder, bool (*wanted)(std::string_view name));

// The error for a source without the files of its kind: what was expected, and what is there.
tl::unexpected<Error> unexpected_layout(const fs::path& source, std::string_view expected);

}  // namespace sotto
