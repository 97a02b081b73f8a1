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
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    auto& mine = waiting_[std::this_thread::get_id()];
    first = mine.empty();
    mine.push_back(std::move(query));
  }
  if (first && !at_end_of_turn_([this] { search_waiting(); })) search_waiting();
}

void QueryCoalescer::search_waiting() {
  std::vector<Query> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(waiting_[std::this_thread::get_id()]);
  }
  for (std::size_t first = 0; first < batch.size(); first += most_at_once) {
    search(std::span(batch).subspan(first, std::min(most_at_once, batch.size() - first)));
  }
}

void QueryCoalescer::search(std::span<Query> batch) const {
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
