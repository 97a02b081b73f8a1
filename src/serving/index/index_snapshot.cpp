#include "serving/index/index_snapshot.h"

#include <algorithm>

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

namespace {

constexpr std::size_t merge_width = 4;

void append_live_rows(const SegmentPart& part, RowBatch& rows) {
  const Segment& segment = *part.segment;
  std::vector<float> values(segment.dimension());
  for (std::size_t row = 0; row < segment.rows(); ++row) {
    if (!part.alive->contains(row)) continue;
    for (std::size_t d = 0; d < values.size(); ++d) values[d] = segment.value(row, d);
    rows.add(segment.item(row), segment.tag(row), values);
  }
}

}  // namespace

std::vector<std::size_t> merge_candidates(std::span<const SegmentPart> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].live * 2 <= parts[i].segment->rows()) return {i};
  }
  // From the smallest up, as long as the next is not much larger than all before it together.
  std::vector<std::size_t> chosen;
  std::size_t rows = 0;
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (chosen.size() >= 2 && parts[i].live > rows) break;
    chosen.push_back(i);
    rows += parts[i].live;
  }
  if (chosen.size() < merge_width) chosen.clear();
  return chosen;
}

SegmentPart merge(std::span<const SegmentPart> parts) {
  RowBatch rows;
  rows.dimension = parts.front().segment->dimension();
  std::size_t live = 0;
  for (const SegmentPart& part : parts) live += part.live;
  rows.items.reserve(live);
  rows.tags.reserve(live);
  rows.values.reserve(live * rows.dimension);
  for (const SegmentPart& part : parts) append_live_rows(part, rows);
  return SegmentPart::of(rows, parts.front().segment->first_look());
}

void catch_up(SegmentPart& merged, const SegmentPart& before, const SegmentPart& now) {
  if (before.alive == now.alive) return;
  for (std::size_t row = 0; row < before.segment->rows(); ++row) {
    if (!before.alive->contains(row) || now.alive->contains(row)) continue;
    if (const auto at = merged.segment->find(before.segment->item(row))) {
      merged.remove(*at);
    }
  }
}

}  // namespace sotto::serving
