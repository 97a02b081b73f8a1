#pragma once
// Where the files of MIND, or of a data set in MIND's format, lie in a source folder.

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset_builder.h"
#include "data/importers/import_job.h"

namespace sotto {

// Either sub-folders train, dev and test (or anything ending in _train, _dev, _test), or news.tsv, optional
// news_more.tsv and behaviors.tsv in the folder itself; entity_embedding.vec beside them is optional.
bool has_mind_layout(const fs::path& source);

// Reads such a folder. Without behaviour the data set is a catalogue only, which `behaviors_required`
// refuses.
Result<DatasetBuilder> read_mind_layout(const fs::path& source, std::string name, bool behaviors_required,
                                        ImportJob& job);

}  // namespace sotto
