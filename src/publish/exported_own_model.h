#pragma once
// A model of one's own that was trained on the sound path (recipes/own_model.h), as files that other programs
// read: model.safetensors or model.npz, items.json, privacy.json and MODEL_CARD.md, as of any exported run.

#include "publish/exported_files.h"

namespace sotto::publish {

struct OwnModelArrays {
  std::vector<formats::NamedArray> parameters;
  formats::NamedArray items;          // [I, D]
  std::vector<std::string> item_ids;  // I
};

// Refuses a folder that is there, and a run that has no datasheet because it was not finished.
Result<ExportedFiles> export_own_model(const fs::path& run, const OwnModelArrays& model,
                                       std::string_view format, const fs::path& out);

}  // namespace sotto::publish
