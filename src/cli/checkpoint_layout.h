#pragma once
// How the numbers of a checkpoint are laid out: "name:size name:size ", as fl/run_log.cpp writes it. The
// command has no torch and reads nothing else of it.

#include <string>

#include "base/binary_file.h"

namespace sotto::cli {

inline Result<std::string> layout_of_checkpoint(const fs::path& checkpoint) {
  constexpr std::uint32_t version = 2;
  SOTTO_TRY(const auto reader, BinaryFileReader::open(checkpoint, "checkpoint", version));
  SOTTO_TRY(const std::string_view layout, reader.text("layout"));
  return std::string(layout);
}

}  // namespace sotto::cli
