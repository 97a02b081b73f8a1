#pragma once
// The whole index at one moment: what a query searches. Immutable (the tail beyond `tail_rows` is not looked
// at) and shared; a query keeps the moment it began with alive.

#include <memory>

#include "serving/index/item_index.h"
#include "serving/index/segment.h"

namespace sotto::serving {

// The newest rows, appended one by one and scanned in full.
//
// One writer appends; readers look only at rows that were there when the snapshot they hold was published,
// and those never change. The arrays have their final size from the start and never move.
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

struct SegmentPart {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const RowSet> alive;
  std::size_t live = 0;  // rows in `alive`

  static SegmentPart of(const RowBatch& rows, FirstLook first_look);
  void remove(std::size_t row);  // other snapshots keep theirs
};

struct IndexSnapshot {
  std::vector<SegmentPart> parts;  // most rows first: a good threshold early
  std::shared_ptr<const Tail> tail;
  std::shared_ptr<const RowSet> tail_alive;
  std::size_t tail_rows = 0, tail_live = 0;

  std::size_t live() const;
  std::size_t bytes() const;
  void search(std::span<RunningQuery> queries, const ItemFilter& filter) const;
  void search_tail(RunningQuery& running, const ItemFilter& filter) const;
  void add_part(SegmentPart part);
};

// Which segments to merge, and the merge itself.

// Positions in `parts` that should become one segment: several of similar size, or one that is half dead.
// Empty when nothing is due. Every row is rewritten a logarithmic number of times.
std::vector<std::size_t> merge_candidates(std::span<const SegmentPart> parts);

// The live rows of some segments as one. Needs no lock: everything it reads is immutable.
SegmentPart merge(std::span<const SegmentPart> parts);

// Takes the rows that died while `merged` was being made out of it. before, now: the same segments.
void catch_up(SegmentPart& merged, const SegmentPart& before, const SegmentPart& now);

}  // namespace sotto::serving
