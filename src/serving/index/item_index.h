#pragma once
// What every way of searching the live pool has in common.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"

namespace sotto::serving {

// The public properties of an item that a query may ask for, and the question.

// Eight bytes beside the scores of a row. Codes are the catalogue's; the time is in seconds since 1970.
struct ItemTag {
  std::uint32_t published = 0;
  std::uint16_t category = 0;
  std::uint16_t language = 0;
  bool operator==(const ItemTag&) const = default;
};

// Lets an item through when every condition that is set holds. An empty list sets none.
struct ItemFilter {
  std::vector<std::uint16_t> categories;
  std::vector<std::uint16_t> languages;
  std::uint32_t published_from = 0;

  bool is_empty() const { return categories.empty() && languages.empty() && published_from == 0; }
  bool lets_through(const ItemTag& tag) const {
    return tag.published >= published_from && holds(categories, tag.category) &&
           holds(languages, tag.language);
  }

 private:
  static bool holds(const std::vector<std::uint16_t>& wanted, std::uint16_t code) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), code) != wanted.end();
  }
};

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

// Rows on their way into an index: number, tag and `dimension` values each, row by row.
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

// The best k of the items offered so far. One owner, one thread.
class TopItems {
 public:
  // k >= 1
  explicit TopItems(std::uint32_t k) : k_(k) { heap_.reserve(std::min<std::uint32_t>(k, 1024)); }

  // What an item must reach to be worth offering: at equal score its number decides.
  double threshold() const {
    return heap_.size() < k_ ? -std::numeric_limits<double>::infinity() : heap_.front().score;
  }

  bool would_take(double score, ItemNumber item) const {
    return heap_.size() < k_ || ranks_before({score, item, {}}, heap_.front());
  }

  void offer(const ScoredItem& item) {
    if (heap_.size() < k_) {
      heap_.push_back(item);
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    } else if (ranks_before(item, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), ranks_before);
      heap_.back() = item;
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    }
  }

  std::vector<ScoredItem> take() && {
    std::sort(heap_.begin(), heap_.end(), ranks_before);
    return std::move(heap_);
  }

 private:
  std::uint32_t k_;
  std::vector<ScoredItem> heap_;  // the worst kept item in front
};

}  // namespace sotto::serving
