#pragma once
// One value that writers replace and readers take whole. A reader holds the lock for one copy of a pointer
// and keeps what it took alive for as long as it likes; nobody ever waits for a search or for a rebuild.

#include <memory>
#include <mutex>
#include <utility>

namespace sotto::serving {

template <class T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  std::shared_ptr<const T> take() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void replace(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
  }  // the old value dies here, or with its last reader, outside of the lock

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace sotto::serving
