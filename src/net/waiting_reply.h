#pragma once
// A reply that a handler holds while its session waits for it. Thread-safe: the handler answers from
// anywhere. `wake` is called at most once, and never after take(): a late answer reaches neither the session
// nor anything that died with it.

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "net/http_message.h"

namespace sotto {

class WaitingReply final : public HttpReply::Slot {
 public:
  explicit WaitingReply(std::function<void()> wake) : wake_(std::move(wake)) {}

  void answer(HttpResponse response) override {
    const std::lock_guard lock(mutex_);
    if (!wake_ || response_) return;
    response_ = std::move(response);
    if (waiting_) wake_();
  }
  // True when there is nothing to wait for.
  bool answered_or_wait() {
    const std::lock_guard lock(mutex_);
    waiting_ = true;
    return response_.has_value();
  }
  // The answer, if there is one; later ones are dropped, and the session is no longer referred to.
  std::optional<HttpResponse> take() {
    std::function<void()> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(wake_);
    return std::exchange(response_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<HttpResponse> response_;
  bool waiting_ = false;
};

}  // namespace sotto
