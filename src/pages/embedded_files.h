#pragma once
// The built files of web/ (web/built), as they are part of this program: made by sotto_embed in
// cmake/SottoModules.cmake.

#include <span>
#include <string_view>

namespace sotto::pages {

struct EmbeddedFile {
  std::string_view name, bytes;
};
std::span<const EmbeddedFile> embedded_files();

}  // namespace sotto::pages
