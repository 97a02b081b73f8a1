#include "serving/index/index_snapshot.h"

namespace sotto::serving {

SegmentPart SegmentPart::of(const RowBatch& rows, FirstLook first_look) {
  auto segment = std::make_shared<const Segment>(rows, first_look);
  auto alive = std::make_shared<RowSet>(segment->all_rows());
  return {std::move(segment), std::move(alive), rows.size()};
}

void SegmentPart::remove(std::size_t row) {
  writable(alive).remove(row);
  --live;
}

std::size_t IndexSnapshot::live() const {
  std::size_t rows = tail_live;
  for (const SegmentPart& part : parts) rows += part.live;
  return rows;
}

std::size_t IndexSnapshot::bytes() const {
  std::size_t bytes = tail->bytes() + tail_alive->bytes();
  for (const SegmentPart& part : parts) bytes += part.segment->bytes() + part.alive->bytes();
  return bytes;
}

void IndexSnapshot::search(std::span<RunningQuery> queries, const ItemFilter& filter) const {
  for (const SegmentPart& part : parts) {
    if (queries.size() == 1) {
      search_segment(*part.segment, *part.alive, filter, queries.front());
    } else {
      search_segment(*part.segment, *part.alive, filter, queries);
    }
  }
  for (RunningQuery& running : queries) search_tail(running, filter);
}

void IndexSnapshot::search_tail(RunningQuery& running, const ItemFilter& filter) const {
  for (std::size_t row = 0; row < tail_rows; ++row) {
    if (!tail_alive->contains(row) || !filter.lets_through(tail->tag(row))) continue;
    const auto values = tail->values(row);
    const double score = running.query.score([&](std::uint32_t dimension) { return values[dimension]; });
    running.top.offer({score, tail->item(row), tail->tag(row)});
  }
}

void IndexSnapshot::add_part(SegmentPart part) {
  const auto smaller = std::find_if(parts.begin(), parts.end(), [&](const SegmentPart& other) {
    return other.segment->rows() < part.segment->rows();
  });
  parts.insert(smaller, std::move(part));
}

}  // namespace sotto::serving
