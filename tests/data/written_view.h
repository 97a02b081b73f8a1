#pragma once
// A view of interactions as a dataset on disk, without the import around it.

#include "data/impression_view.h"

namespace sotto::data {

inline Result<DatasetCounts> write_impression_view(const Dataset& source,
                                                   const ImpressionViewOptions& options,
                                                   const fs::path& target) {
  SOTTO_TRY(const DatasetBuilder view, build_impression_view(source, options));
  SOTTO_TRY(AtomicDirectory directory, AtomicDirectory::create(target));
  SOTTO_CHECK(view.write(directory.path()));
  SOTTO_CHECK(directory.commit());
  return view.counts();
}

}  // namespace sotto::data
