#pragma once
// Turns articles into vectors. Implemented where torch may be seen; serving knows only this.

#include <span>
#include <vector>

#include "serving/catalogue/catalogue_item.h"

namespace sotto::serving {

// Safe to call from several threads.
class ItemEncoder {
 public:
  virtual ~ItemEncoder() = default;
  // One vector of the model's dimension per item.
  virtual Result<std::vector<std::vector<float>>> encode(std::span<const CatalogueItem> items) const = 0;
};

}  // namespace sotto::serving
