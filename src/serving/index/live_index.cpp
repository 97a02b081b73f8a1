#include "serving/index/live_index.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "serving/index/index_snapshot.h"

namespace sotto::serving {

namespace {

constexpr std::size_t tail_capacity = 1024;
constexpr std::size_t queries_per_pass = 64;

Status check_k(std::uint32_t k) {
  if (k >= 1 && k <= most_answers) return {};
  return bad_input("{} answers were asked for: ask for 1 to {}", k, most_answers);
}

std::vector<ScoredItem> answer(RunningQuery&& running) {
  auto items = std::move(running.top).take();
  for (ScoredItem& item : items) item.score = running.query.unscale(item.score);
  return items;
}

}  // namespace

Result<std::unique_ptr<LiveIndex>> LiveIndex::create(std::size_t dimension, Merging merging,
                                                     FirstLook first_look) {
  if (dimension == 0 || dimension > most_dimensions) {
    return bad_input("an index of {} dimensions was asked for: choose 1 to {}", dimension, most_dimensions);
  }
  return std::unique_ptr<LiveIndex>(new LiveIndex(dimension, merging, first_look));
}

LiveIndex::LiveIndex(std::size_t dimension, Merging merging, FirstLook first_look)
    : dimension_(dimension), first_look_(first_look), published_(nullptr) {
  IndexSnapshot empty;
  start_tail(empty);
  publish(std::move(empty));
  if (merging == Merging::in_background) merger_ = std::thread([this] { merge_until_stopped(); });
}

LiveIndex::~LiveIndex() {
  {
    const std::lock_guard lock(waking_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (merger_.joinable()) merger_.join();
}

Status LiveIndex::check(const IndexUpdate& update) const {
  const RowBatch& rows = update.rows;
  if (rows.items.empty()) return {};
  if (rows.dimension != dimension_ || rows.tags.size() != rows.size() ||
      rows.values.size() != rows.size() * dimension_) {
    return bad_input("{} rows of {} numbers do not fit an index of {} dimensions", rows.size(),
                     rows.dimension, dimension_);
  }
  std::vector<ItemNumber> items = rows.items;
  std::sort(items.begin(), items.end());
  if (const auto twice = std::adjacent_find(items.begin(), items.end()); twice != items.end()) {
    return bad_input("item {} is there twice in one update", *twice);
  }
  return check_values(rows.values);
}

Status LiveIndex::update(const IndexUpdate& update) {
  SOTTO_CHECK(check(update));
  const std::lock_guard lock(writing_);
  IndexSnapshot next = *published_.take();
  for (const ItemNumber item : update.removals) remove(next, item);
  add(next, update.rows);
  publish(std::move(next));
  return {};
}

void LiveIndex::start_tail(IndexSnapshot& next) {
  tail_ = std::make_shared<Tail>(tail_capacity, dimension_);
  tail_rows_of_.clear();
  next.tail = tail_;
  next.tail_alive = std::make_shared<RowSet>(tail_capacity);
  next.tail_rows = next.tail_live = 0;
}

void LiveIndex::remove(IndexSnapshot& next, ItemNumber item) {
  if (const auto at = tail_rows_of_.find(item); at != tail_rows_of_.end()) {
    writable(next.tail_alive).remove(at->second);
    --next.tail_live;
    tail_rows_of_.erase(at);
    return;
  }
  for (SegmentPart& part : next.parts) {
    if (const auto row = part.segment->find(item); row && part.alive->contains(*row)) {
      part.remove(*row);
      return;
    }
  }
}

void LiveIndex::add(IndexSnapshot& next, const RowBatch& rows) {
  for (const ItemNumber item : rows.items) remove(next, item);
  if (rows.size() >= tail_capacity) {
    next.add_part(SegmentPart::of(rows, first_look_));
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (next.tail_rows == tail_->capacity()) seal_tail(next);
    const std::size_t row = next.tail_rows++;
    tail_->write(row, rows.items[i], rows.tags[i], rows.row(i));
    writable(next.tail_alive).insert(row);
    ++next.tail_live;
    tail_rows_of_.emplace(rows.items[i], row);
  }
}

void LiveIndex::seal_tail(IndexSnapshot& next) {
  RowBatch rows;
  rows.dimension = dimension_;
  for (std::size_t row = 0; row < next.tail_rows; ++row) {
    if (next.tail_alive->contains(row)) rows.add(tail_->item(row), tail_->tag(row), tail_->values(row));
  }
  if (rows.size() > 0) next.add_part(SegmentPart::of(rows, first_look_));
  start_tail(next);
}

void LiveIndex::publish(IndexSnapshot next) {
  const bool due = !merge_candidates(next.parts).empty();
  published_.replace(std::make_shared<const IndexSnapshot>(std::move(next)));
  if (!due) return;
  {
    const std::lock_guard lock(waking_);
    due_ = true;
  }
  wake_.notify_all();
}

bool LiveIndex::merge_once() {
  const std::lock_guard merge_lock(merging_);
  const auto start = published_.take();
  std::vector<SegmentPart> inputs;
  const auto chosen = merge_candidates(start->parts);
  inputs.reserve(chosen.size());
  for (const std::size_t i : chosen) inputs.push_back(start->parts[i]);
  if (inputs.empty()) return false;
  SegmentPart merged = merge(inputs);

  const std::lock_guard lock(writing_);
  IndexSnapshot next = *published_.take();
  for (const SegmentPart& input : inputs) {
    // Segments leave by merging only, so it is still there.
    const auto now = std::find_if(next.parts.begin(), next.parts.end(),
                                  [&](const SegmentPart& part) { return part.segment == input.segment; });
    catch_up(merged, input, *now);
    next.parts.erase(now);
  }
  if (merged.live > 0) next.add_part(std::move(merged));
  publish(std::move(next));
  return true;
}

void LiveIndex::merge_until_stopped() {
  yield_to_other_threads();
  std::unique_lock lock(waking_);
  while (!stopping_) {
    wake_.wait(lock, [this] { return due_ || stopping_; });
    due_ = false;
    lock.unlock();
    while (merge_once()) {
      const std::lock_guard check(waking_);
      if (stopping_) break;
    }
    lock.lock();
  }
}

Result<std::vector<ScoredItem>> LiveIndex::search(std::span<const float> coefficients, std::uint32_t k,
                                                  const ItemFilter& filter) const {
  SOTTO_CHECK(check_k(k));
  SOTTO_TRY(auto query, ScaledQuery::create(coefficients, dimension_));
  RunningQuery running{std::move(query), TopItems(k)};
  published_.take()->search({&running, 1}, filter);
  return answer(std::move(running));
}

Result<std::vector<std::vector<ScoredItem>>> LiveIndex::search_batch(std::span<const float> coefficients,
                                                                     std::uint32_t k,
                                                                     const ItemFilter& filter) const {
  SOTTO_CHECK(check_k(k));
  if (coefficients.size() % dimension_ != 0) {
    return bad_input("{} coefficients are no whole number of queries of {}", coefficients.size(), dimension_);
  }
  std::vector<RunningQuery> running;
  for (std::size_t i = 0; i < coefficients.size(); i += dimension_) {
    SOTTO_TRY(auto query, ScaledQuery::create(coefficients.subspan(i, dimension_), dimension_));
    running.push_back({std::move(query), TopItems(k)});
  }
  const auto snapshot = published_.take();
  parallel_for(running.size(), queries_per_pass, [&](std::size_t begin, std::size_t end) {
    snapshot->search(std::span(running).subspan(begin, end - begin), filter);
  });
  std::vector<std::vector<ScoredItem>> answers;
  answers.reserve(running.size());
  for (RunningQuery& query : running) answers.push_back(answer(std::move(query)));
  return answers;
}

}  // namespace sotto::serving
