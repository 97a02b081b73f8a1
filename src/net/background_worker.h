#pragma once
// One thread for work that network threads must not wait for: durable writes, encoding, answers of thousands
// of items.
//
// Thread-safe. Tasks run in the order in which they came. Destruction finishes what is queued, or drops it.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sotto::net {

class BackgroundWorker {
 public:
  enum class AtEnd { finish, drop };
  BackgroundWorker(std::size_t most_waiting, AtEnd at_end);
  ~BackgroundWorker();
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  // False: too much is waiting already; the task is dropped.
  bool submit(std::function<void()> task);

 private:
  void work();

  const std::size_t most_waiting_;
  const AtEnd at_end_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sotto::net
