#pragma once
// The newsroom in MIND's published file format: news.tsv, behaviors.tsv, entity_embedding.vec.

#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/newsroom/simulation.h"
#include "data/newsroom/world.h"

namespace sotto::newsroom {

// Writes train/ (all days but the last) and dev/ (the last day) into an existing directory. train/news.tsv
// holds what was published before the test day, dev/news.tsv everything.
Status write_mind_files(const World& world, const std::vector<ReaderChunk>& chunks,
                        const fs::path& directory);

}  // namespace sotto::newsroom
