#pragma once
// Looks at the servers that recommend, for GET /v1/serving: every few seconds it reads a list of addresses,
// one a line, asks each for its /metrics, and keeps what they said in the last half minute. The list may
// change while it runs; servers that left it are forgotten. It sends nothing but these requests.
//
// Owns a thread, which ends with the object. Thread-safe.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "coordinator/http/serving_figures.h"

namespace sotto::coordinator {

class ServingWatch {
 public:
  static constexpr std::size_t most_servers = 16;
  static constexpr std::chrono::seconds between{5}, remembered{30};

  // list: a missing one names nobody yet.
  explicit ServingWatch(fs::path list);
  ~ServingWatch();
  ServingWatch(const ServingWatch&) = delete;
  ServingWatch& operator=(const ServingWatch&) = delete;

  // {"servers": [{"url", "heard": seconds ago or null, "problem", figures...}], "problem": of the list}, in
  // the order of the list.
  std::string text() const;

 private:
  struct Watched {
    std::string url, problem;           // empty: it answered
    std::deque<ServingSample> samples;  // oldest first
  };
  void run();
  void look();

  const fs::path list_;
  mutable std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;
  std::string problem_;  // of the list
  std::vector<Watched> servers_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace sotto::coordinator
