#pragma once
// The whole index at one moment: what a query searches. Immutable (the tail beyond `tail_rows` is not looked
// at) and shared; a query keeps the moment it began with alive.

#include <memory>

#include "serving/index/segment.h"
#include "serving/index/segment_search.h"
#include "serving/index/tail.h"

namespace sotto::serving {

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

}  // namespace sotto::serving
