#pragma once
// Queries that arrive while others are being searched wait and are then searched together, sharing each pass
// over the memory. There is no extra thread: whoever finds nobody searching does it, for everybody who comes
// meanwhile.
//
// Thread-safe. Answers are called without any lock held, from a thread that called submit(). Must outlive its
// queries.

#include <functional>
#include <mutex>
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
  // batch_searched: told how many queries each pass answered.
  explicit QueryCoalescer(std::function<void(std::size_t)> batch_searched = {})
      : batch_searched_(std::move(batch_searched)) {}

  void submit(Query query);

 private:
  void search(std::vector<Query> batch) const;

  std::function<void(std::size_t)> batch_searched_;
  std::mutex mutex_;
  std::vector<Query> waiting_;
  bool searching_ = false;
};

}  // namespace sotto::serving
