#pragma once
// One thread for work that network threads must not wait for: durable writes, encoding.
//
// Thread-safe. Tasks run in the order in which they came. Destruction finishes what is queued.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sotto::serving {

class ChangeWorker {
 public:
  explicit ChangeWorker(std::size_t most_waiting);
  ~ChangeWorker();
  ChangeWorker(const ChangeWorker&) = delete;
  ChangeWorker& operator=(const ChangeWorker&) = delete;

  // False: too much is waiting already; the task is dropped.
  bool submit(std::function<void()> task);

 private:
  void work();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sotto::serving
