#include "publish/exported_files.h"

#include <nlohmann/json.hpp>

#include "formats/numpy_files.h"
#include "text/safetensors.h"

namespace sotto::publish {

Result<NamedFile> tensor_file(std::span<const formats::NamedArray> arrays, std::string_view format,
                              const ExportMetadata& metadata) {
  if (format == "npz") {
    SOTTO_TRY(std::string bytes, formats::npz_bytes(arrays));
    return NamedFile{"model.npz", std::move(bytes)};
  }
  text::TensorViews views;
  for (const formats::NamedArray& array : arrays)
    views[array.name] = {text::TensorType::f32, array.shape, std::as_bytes(std::span(array.values))};
  SOTTO_TRY(std::string bytes, text::safetensors_bytes(views, {metadata.begin(), metadata.end()}));
  return NamedFile{"model.safetensors", std::move(bytes)};
}

NamedFile item_ids_file(std::span<const std::string> ids) {
  const nlohmann::json list = std::vector<std::string>(ids.begin(), ids.end());
  return {"items.json", list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

Status write_folder(const fs::path& out, std::span<const NamedFile> files) {
  SOTTO_TRY(auto folder, AtomicDirectory::create(out));
  for (const NamedFile& file : files)
    SOTTO_CHECK(write_file_atomically(folder.path() / file.name, file.bytes));
  return folder.commit();
}

}  // namespace sotto::publish
