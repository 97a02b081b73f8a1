#include "publish/exported_own_model.h"

#include "publish/model_card.h"

namespace sotto::publish {

Result<ExportedFiles> export_own_model(const fs::path& run, const OwnModelArrays& model,
                                       std::string_view format, const fs::path& out) {
  if (format != "safetensors" && format != "npz")
    return bad_input(
        "there is no format '{}' for a model of one's own: safetensors or npz (torch.onnx.export writes "
        "graphs)",
        format);
  if (fs::exists(out)) return bad_input("{} exists: choose another folder to create", out.string());
  if (!fs::exists(run / "privacy.json"))
    return bad_input("{} has no privacy.json: the training was not finished", run.string());
  SOTTO_TRY(std::string sheet, read_file(run / "privacy.json", 1 << 20));
  std::vector<formats::NamedArray> arrays = model.parameters;
  arrays.push_back(model.items);
  SOTTO_TRY(auto tensors, tensor_file(arrays, format, {{"producer", "sotto"}, {"recipe", "own model"}}));
  std::vector<NamedFile> files;
  files.push_back(std::move(tensors));
  files.push_back(item_ids_file(model.item_ids));
  files.push_back({"privacy.json", std::move(sheet)});
  ExportedFiles exported;
  for (const NamedFile& file : files) exported.files.push_back(file.name);
  SOTTO_TRY(std::string card, own_model_card(run, exported.files));
  files.push_back({"MODEL_CARD.md", std::move(card)});
  exported.files.emplace_back("MODEL_CARD.md");
  for (const auto& array : model.parameters) exported.parameters += array.values.size();
  exported.items = model.item_ids.size();
  SOTTO_CHECK(write_folder(out, files));
  return exported;
}

}  // namespace sotto::publish
