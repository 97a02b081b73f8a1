#pragma once
// What every way of searching the live pool has in common.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "serving/index/item_filter.h"

namespace sotto::serving {

// Numbers identify items inside one process; names, titles and vectors are the catalogue's business.
using ItemNumber = std::uint32_t;

struct ScoredItem {
  double score = 0;
  ItemNumber item = 0;
  ItemTag tag{};
  bool operator==(const ScoredItem& other) const { return score == other.score && item == other.item; }
};

// The order of every answer: higher scores first, equal scores by ascending number.
inline bool ranks_before(const ScoredItem& left, const ScoredItem& right) {
  return left.score != right.score ? left.score > right.score : left.item < right.item;
}

constexpr std::uint32_t most_answers = 10'000;  // k of one query

// Searching is const and safe from any number of threads, also while another thread updates the index.
// Answers are sorted by ranks_before and shorter than k when fewer items qualify.
class ItemIndex {
 public:
  virtual ~ItemIndex() = default;
  virtual std::size_t dimension() const = 0;  // numbers per query
  virtual std::size_t size() const = 0;       // live items
  virtual std::size_t bytes() const = 0;      // memory held
  // The k items with the largest scores among those the filter lets through.
  virtual Result<std::vector<ScoredItem>> search(std::span<const float> query, std::uint32_t k,
                                                 const ItemFilter& filter) const = 0;
  // Queries one after another in `queries`; the same answers as search() gives to each.
  virtual Result<std::vector<std::vector<ScoredItem>>> search_batch(std::span<const float> queries,
                                                                    std::uint32_t k,
                                                                    const ItemFilter& filter) const = 0;
};

}  // namespace sotto::serving
