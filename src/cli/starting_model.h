#pragma once
// What a campaign's first version is, where it is not drawn from a seed: the model of a run, or the version
// that another coordinator made last.

#ifdef SOTTO_HAVE_NET

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "rounds/document.h"

namespace sotto::cli {

struct StartingModel {
  fs::path checkpoint;                  // empty: the coordinator's store has a version of the campaign
  std::optional<rounds::Digest> items;  // table that it is about, where that is known
};

// For the trainer to begin with: the run's own checkpoint, or one in `work`. from: the folder of a run, or
// the store of a coordinator (a folder or postgresql://…), which is only read. Refused, and nothing stays
// written, unless the numbers are laid out as the campaign says and a run had this seed, which its item
// vectors are of.
Result<StartingModel> starting_model(const std::string& from, const std::string& campaign,
                                     const std::string& store, const fs::path& work, std::uint64_t seed);

}  // namespace sotto::cli

#endif
