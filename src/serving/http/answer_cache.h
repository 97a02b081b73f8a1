#pragma once
// Answers that everybody gets alike (the public lists), encoded and compressed once for as long as the pool
// stays the same.
//
// Thread-safe. Holds a bounded number of bytes: what was asked for first leaves first.

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "net/published_body.h"

namespace sotto::serving {

class AnswerCache {
 public:
  using Answer = std::shared_ptr<const PublishedBody>;
  explicit AnswerCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // state: number of the pool's changes. Null when this was not asked for in that state.
  Answer find(const std::string& question, std::uint64_t state);
  // state: as read before the answer was computed.
  void keep(const std::string& question, std::uint64_t state, Answer answer);

 private:
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::uint64_t state_ = 0;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Answer> answers_;
  std::deque<std::string> order_;
};

}  // namespace sotto::serving
