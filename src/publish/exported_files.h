#pragma once
// What exported folders are made of, whoever trained what is in them.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "formats/named_array.h"

namespace sotto::publish {

struct ExportedFiles {
  std::vector<std::string> files;  // names in the folder
  std::uint64_t parameters = 0, items = 0;
};

struct NamedFile {
  std::string name, bytes;
};

using ExportMetadata = std::vector<std::pair<std::string, std::string>>;

// model.npz or model.safetensors, which alone has room for metadata.
Result<NamedFile> tensor_file(std::span<const formats::NamedArray> arrays, std::string_view format,
                              const ExportMetadata& metadata);
// items.json: ids in the order of their vectors.
NamedFile item_ids_file(std::span<const std::string> ids);
// A new folder, whole or not at all.
Status write_folder(const fs::path& out, std::span<const NamedFile> files);

}  // namespace sotto::publish
