#pragma once
// A trained run as files that other programs read.
//
// OUT/model.safetensors or model.npz   the parameters by name, "item_vectors" where the run has vectors of
// items OUT/user_encoder.onnx                onnx: from the vectors of clicked items to the vector of their
// reader OUT/item_vectors.npy                 onnx: what both sides of a score are made of OUT/items.json ids
// of the items, in the order of their vectors OUT/MODEL_CARD.md                    what it is, what was
// measured, and what holds for its readers OUT/privacy.json                     the datasheet (recipes with
// differential privacy)
//
// Vectors of readers are never exported: they are made where the clicks are.

#include <array>
#include <string_view>

#include "data/dataset.h"
#include "publish/exported_files.h"
#include "recipes/stored_run.h"

namespace sotto::publish {

inline constexpr std::array<std::string_view, 3> export_formats = {"safetensors", "onnx", "npz"};

// dataset: what the run was trained on. Makes `out` appear whole or not at all; refuses a folder that is
// there. Gradients must be off.
Result<ExportedFiles> export_run(const fs::path& run, const data::Dataset& dataset, std::string_view format,
                                 const fs::path& out);

}  // namespace sotto::publish
