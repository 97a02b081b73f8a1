#pragma once
// Rows on their way into an index: number, tag and `dimension` values each, row by row.

#include <cstddef>
#include <span>
#include <vector>

#include "serving/index/item_index.h"

namespace sotto::serving {

struct RowBatch {
  std::size_t dimension = 0;
  std::vector<ItemNumber> items;
  std::vector<ItemTag> tags;
  std::vector<float> values;  // items.size() x dimension

  std::size_t size() const { return items.size(); }
  std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * dimension, dimension);
  }
  void add(ItemNumber item, const ItemTag& tag, std::span<const float> row_values) {
    items.push_back(item);
    tags.push_back(tag);
    values.insert(values.end(), row_values.begin(), row_values.end());
  }
  void append(const RowBatch& more) {
    items.insert(items.end(), more.items.begin(), more.items.end());
    tags.insert(tags.end(), more.tags.begin(), more.tags.end());
    values.insert(values.end(), more.values.begin(), more.values.end());
  }
};

}  // namespace sotto::serving
