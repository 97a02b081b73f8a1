#include "serving/http/query_coalescer.h"

#include <algorithm>
#include <iterator>

namespace sotto::serving {

namespace {

constexpr std::size_t most_at_once = 64;

bool same_search(const QueryCoalescer::Query& left, const QueryCoalescer::Query& right) {
  return left.pool == right.pool && left.count == right.count;
}

}  // namespace

void QueryCoalescer::submit(Query query) {
  std::unique_lock lock(mutex_);
  waiting_.push_back(std::move(query));
  if (searching_) return;
  searching_ = true;
  while (!waiting_.empty()) {
    const std::size_t taken = std::min(waiting_.size(), most_at_once);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(taken);
    std::vector<Query> batch(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    lock.unlock();
    search(std::move(batch));
    lock.lock();
  }
  searching_ = false;
}

void QueryCoalescer::search(std::vector<Query> batch) const {
  if (batch_searched_) batch_searched_(batch.size());
  for (auto first = batch.begin(); first != batch.end();) {
    // Most have the same model and count: those in front become one search.
    const auto last = std::stable_partition(
        first, batch.end(), [lead = *first](const Query& query) { return same_search(query, lead); });
    std::vector<float> coefficients;
    for (auto query = first; query != last; ++query) {
      coefficients.insert(coefficients.end(), query->coefficients.begin(), query->coefficients.end());
    }
    auto answers = first->pool->search_batch(coefficients, first->count);
    for (auto query = first; query != last; ++query) {
      if (answers) {
        query->answer(std::move((*answers)[static_cast<std::size_t>(query - first)]));
      } else {
        query->answer(tl::unexpected(answers.error()));
      }
    }
    first = last;
  }
}

}  // namespace sotto::serving
