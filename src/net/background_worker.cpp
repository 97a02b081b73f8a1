#include "net/background_worker.h"

#include "base/thread_pool.h"

namespace sotto::net {

BackgroundWorker::BackgroundWorker(std::size_t most_waiting, AtEnd at_end)
    : most_waiting_(most_waiting), at_end_(at_end), thread_([this] { work(); }) {}

BackgroundWorker::~BackgroundWorker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (at_end_ == AtEnd::drop) tasks_.clear();
  }
  wake_.notify_all();
  thread_.join();
}

bool BackgroundWorker::submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() >= most_waiting_) return false;
    tasks_.push_back(std::move(task));
  }
  wake_.notify_all();
  return true;
}

void BackgroundWorker::work() {
  yield_to_other_threads();  // queries are waited for by somebody
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace sotto::net
