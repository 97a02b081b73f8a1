#pragma once
// MODEL_CARD.md of an exported run: from the files of the run alone.

#include <string>
#include <vector>

#include "recipes/stored_run.h"

namespace sotto::publish {

Result<std::string> model_card(const fs::path& run, const recipes::StoredRun& stored,
                               const std::vector<std::string>& files);
// Of a model of one's own: what was trained is known here as numbers only.
Result<std::string> own_model_card(const fs::path& run, const std::vector<std::string>& files);

}  // namespace sotto::publish
