#pragma once
// Names for files and folders that are renamed to their real name when they are complete.

#include <filesystem>
#include <string_view>

namespace sotto {

// ".NAME.sotto-PID-N" in the folder of `path`, different on every call in this process. Creation must still
// be exclusive and take another name on EEXIST: a process of the same number may have left one behind.
std::filesystem::path temporary_sibling(const std::filesystem::path& path);

// Whether `path` is called as temporary_sibling() calls what is to become `name`.
bool is_temporary_sibling(const std::filesystem::path& path, std::string_view name);

// Removes what processes that were killed left behind under such names. Only for whoever owns `path`: a
// living process may be writing to one.
void remove_temporary_siblings(const std::filesystem::path& path);

// Makes the names in the folder that holds `path` durable. Best effort: some file systems cannot.
void sync_parent(const std::filesystem::path& path);

}  // namespace sotto
