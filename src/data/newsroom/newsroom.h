#pragma once
// The newsroom: a simulator of readers with a documented choice model (docs/newsroom.md) that writes MIND's
// file format, the data set made from it, and what is attainable on it.

#include "base/files.h"
#include "base/result.h"
#include "data/newsroom/oracle.h"
#include "data/newsroom/settings.h"

namespace sotto::data {

// Makes `out` appear with train/ and dev/ (MIND's files), dataset.sotto (those files imported) and
// oracle.json; nothing is left behind on failure. The files depend on the settings alone, not on the number
// of threads. An existing non-empty `out` is an error unless `replace`.
Result<NewsroomReport> generate_newsroom(const NewsroomSettings& settings, const fs::path& out,
                                         bool replace = false);

}  // namespace sotto::data
