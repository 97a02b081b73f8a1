#include "serving/http/answer_cache.h"

namespace sotto::serving {

AnswerCache::Answer AnswerCache::find(const std::string& question, std::uint64_t state) {
  const std::lock_guard lock(mutex_);
  const auto found = state == state_ ? answers_.find(question) : answers_.end();
  return found == answers_.end() ? nullptr : found->second;
}

void AnswerCache::keep(const std::string& question, std::uint64_t state, Answer answer) {
  const std::lock_guard lock(mutex_);
  if (state < state_) return;
  if (state > state_) {
    answers_.clear();
    order_.clear();
    bytes_ = 0;
    state_ = state;
  }
  const std::size_t size = answer->held_bytes();
  if (size > most_bytes_ || !answers_.emplace(question, std::move(answer)).second) return;
  order_.push_back(question);
  bytes_ += size;
  while (bytes_ > most_bytes_) {
    const auto oldest = answers_.find(order_.front());
    bytes_ -= oldest->second->held_bytes();
    answers_.erase(oldest);
    order_.pop_front();
  }
}

}  // namespace sotto::serving
