#pragma once
// Parameters from a safetensors file back into a run: what was pruned, averaged or trained further elsewhere
// is measured, exported and served like any other.
//
// OUT holds settings, description and words of the run that it came from and the parameters of the file; no
// log, and nothing to train on from, because it was not trained here. The datasheet goes with it only where
// every number is as it was: what others were made from is not known here, so that nothing is said to hold
// for them.

#include "data/dataset.h"
#include "recipes/stored_run.h"

namespace sotto::publish {

struct ImportedRun {
  std::uint64_t parameters = 0;  // numbers that were taken from the file
  bool unchanged = false;        // all of them as they were in the run
};

// dataset: what the run was trained on. The file must hold every parameter of the run's model, by name, as
// 32-bit floats in its shape; "item_vectors" follow from them and are not read; anything else is refused.
// Makes `out` appear whole or not at all. Gradients must be off.
Result<ImportedRun> import_run(const fs::path& run, const data::Dataset& dataset, const fs::path& file,
                               const fs::path& out);

}  // namespace sotto::publish
