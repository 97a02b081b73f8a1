#pragma once
// Interactions while a dataset is being built.

#include <cstdint>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"
#include "data/dataset.h"
#include "data/feature_columns.h"

namespace sotto {

// Interactions in any order. The caller has checked users and items. Not thread-safe.
class InteractionColumns {
 public:
  // A rating of NaN is none; infinite ones are refused. The new row has the number size() - 1.
  Status add(UserId user, ItemId item, float rating, std::int64_t time);
  std::size_t size() const { return users_.size(); }
  FeatureColumns& context() { return context_; }
  Status write(BinaryFileWriter& writer, std::size_t user_count) const;

 private:
  std::vector<UserId> users_;
  std::vector<ItemId> items_;
  std::vector<float> ratings_;
  std::vector<std::int64_t> times_;
  FeatureColumns context_;
};

}  // namespace sotto
