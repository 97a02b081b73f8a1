#include "data/unseen_items.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/distributions.h"

namespace sotto::data {

UnseenItems::UnseenItems(std::span<const std::uint64_t> weights) : cumulative_(weights.size()) {
  std::partial_sum(weights.begin(), weights.end(), cumulative_.begin());
}

void UnseenItems::draw(std::size_t count, std::span<std::uint8_t> marks, RandomSource& random,
                       std::vector<ItemId>& out) const {
  // Drawing with replacement and refusing marked items is drawing without replacement; it takes few tries
  // unless the user touched nearly all of the weight.
  constexpr std::size_t tries_per_item = 32;
  std::size_t missing = count;
  for (std::size_t tries = count * tries_per_item; missing > 0 && tries > 0; --tries) {
    const std::uint64_t point = uniform_below(random, cumulative_.back());
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), point);
    const auto item = static_cast<ItemId>(found - cumulative_.begin());
    if (marks[item] != 0) continue;
    marks[item] = 1;
    out.push_back(item);
    --missing;
  }
  if (missing > 0) draw_by_scan(missing, marks, random, out);
}

void UnseenItems::draw_by_scan(std::size_t count, std::span<std::uint8_t> marks, RandomSource& random,
                               std::vector<ItemId>& out) const {
  // Exponential clocks: item i rings after Exp(1) / weight; the first `count` to ring are the draw, in order
  // (Efraimidis and Spirakis 2006).
  std::vector<std::pair<double, ItemId>> rings;
  for (std::size_t item = 0; item < cumulative_.size(); ++item) {
    const std::uint64_t weight = cumulative_[item] - (item == 0 ? 0 : cumulative_[item - 1]);
    if (marks[item] != 0 || weight == 0) continue;
    rings.emplace_back(exponential(random) / static_cast<double>(weight), static_cast<ItemId>(item));
  }
  const auto drawn = static_cast<std::ptrdiff_t>(std::min(count, rings.size()));
  std::partial_sort(rings.begin(), rings.begin() + drawn, rings.end());
  for (auto ring = rings.begin(); ring != rings.begin() + drawn; ++ring) {
    marks[ring->second] = 1;
    out.push_back(ring->second);
  }
}

}  // namespace sotto::data
