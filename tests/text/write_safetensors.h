#pragma once
// Writes safetensors files for tests of what reads them. The views must fit their shapes.

#include <nlohmann/json.hpp>
#include <string>

#include "text/safetensors.h"

namespace sotto::text {

inline Status write_safetensors(const fs::path& path, const TensorViews& tensors) {
  auto header = nlohmann::json::object();
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", name_of(tensor.type)},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors of 8-byte elements come to lie aligned
  const std::uint64_t length = text.size();
  SOTTO_TRY(auto file, AtomicFile::create(path));
  SOTTO_CHECK(file.write(std::as_bytes(std::span(&length, 1))));
  SOTTO_CHECK(file.write(text));
  for (const auto& [name, tensor] : tensors) SOTTO_CHECK(file.write(tensor.bytes));
  return file.commit();
}

}  // namespace sotto::text
