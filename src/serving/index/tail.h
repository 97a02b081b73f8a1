#pragma once
// The newest rows, appended one by one and scanned in full.
//
// One writer appends; readers look only at rows that were there when the snapshot they hold was published,
// and those never change. The arrays have their final size from the start and never move.

#include "serving/index/row_batch.h"

namespace sotto::serving {

class Tail {
 public:
  Tail(std::size_t capacity, std::size_t dimension)
      : dimension_(dimension), items_(capacity), tags_(capacity), values_(capacity * dimension) {}

  std::size_t capacity() const { return items_.size(); }
  void write(std::size_t row, ItemNumber item, const ItemTag& tag, std::span<const float> values) {
    items_[row] = item;
    tags_[row] = tag;
    std::copy(values.begin(), values.end(), values_.begin() + static_cast<std::ptrdiff_t>(row * dimension_));
  }
  ItemNumber item(std::size_t row) const { return items_[row]; }
  const ItemTag& tag(std::size_t row) const { return tags_[row]; }
  std::span<const float> values(std::size_t row) const {
    return std::span(values_).subspan(row * dimension_, dimension_);
  }
  std::size_t bytes() const {
    return items_.size() * (sizeof(ItemNumber) + sizeof(ItemTag) + dimension_ * sizeof(float));
  }

 private:
  std::size_t dimension_;
  std::vector<ItemNumber> items_;
  std::vector<ItemTag> tags_;
  std::vector<float> values_;
};

}  // namespace sotto::serving
