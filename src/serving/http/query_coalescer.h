#pragma once
// Queries that one network thread receives in one turn are searched together, sharing each pass over the
// memory. No thread searches for another: a connection never waits for more than what its own thread was
// given in that turn.
//
// Thread-safe. Answers are called without any lock held, on the thread of submit(): at once, or when the turn
// ends. Must outlive its queries.

#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "serving/pool/model_pool.h"

namespace sotto::serving {

class QueryCoalescer {
 public:
  using Answer = std::function<void(Result<std::vector<ScoredItem>>)>;
  struct Query {
    std::shared_ptr<const ModelPool> pool;
    std::vector<float> coefficients;  // checked
    std::uint32_t count = 0;
    Answer answer;
  };
  // Runs a task on the calling thread when its turn ends; false: it has no turns, and the query is searched
  // at once.
  using AtEndOfTurn = std::function<bool(std::function<void()> task)>;
  // batch_searched: told how many queries each pass answered.
  QueryCoalescer(AtEndOfTurn at_end_of_turn, std::function<void(std::size_t)> batch_searched = {})
      : at_end_of_turn_(std::move(at_end_of_turn)), batch_searched_(std::move(batch_searched)) {}

  void submit(Query query);

 private:
  void search_waiting();
  void search(std::span<Query> batch) const;

  AtEndOfTurn at_end_of_turn_;
  std::function<void(std::size_t)> batch_searched_;
  std::mutex mutex_;
  std::unordered_map<std::thread::id, std::vector<Query>> waiting_;  // as many as there are network threads
};

}  // namespace sotto::serving
