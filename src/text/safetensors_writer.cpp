#include <cstring>
#include <nlohmann/json.hpp>

#include "text/safetensors.h"
#include "text/unicode.h"

namespace sotto {

Status write_safetensors(const fs::path& path, const TensorViews& tensors) {
  auto header = nlohmann::json::object();
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name.empty() || name == "__metadata__" || !is_valid_utf8(name))
      return bad_input("cannot write {}: a tensor cannot be called '{}'", path.string(), name);
    std::uint64_t bytes = bytes_of(tensor.type);
    for (const std::uint64_t extent : tensor.shape) bytes *= extent;
    if (bytes != tensor.bytes.size())
      return bad_input("cannot write {}: tensor '{}' has {} bytes, its shape {} needs {}", path.string(),
                       name, tensor.bytes.size(), shape_text(tensor.shape), bytes);
    header[name] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
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

}  // namespace sotto
