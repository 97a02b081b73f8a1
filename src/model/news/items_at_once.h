#pragma once
// How many items are encoded at a time where every item of a catalogue is: progress is shown, and Ctrl-C is
// seen, between two such parts.

#include <algorithm>
#include <cstddef>

#include "model/news/news_recommender.h"

namespace sotto::model {

inline std::size_t items_at_once(const NewsRecommender& model) {
  constexpr std::size_t most = 2048;  // bounds the memory of activations
  // A language model keeps to a bound by itself, and takes minutes for so many: 2,048 titles are 4 TFLOP for
  // BERT-base. It computes about 300 operations per byte that its layers would keep, so that this is a second
  // or two of two cores. On a card parts of any size take less than that.
  constexpr std::size_t bytes_of_a_part = std::size_t{1} << 28;
  if (!model.bounds_its_memory() || model.parameters().front().is_cuda()) return most;
  return std::clamp<std::size_t>(bytes_of_a_part / static_cast<std::size_t>(model.bytes_per_item()), 1, most);
}

}  // namespace sotto::model
