#include "fl/round_limit.h"

#include <utility>

namespace sotto::fl {

namespace {
thread_local RoundLimit* innermost = nullptr;
}  // namespace

RoundLimit::RoundLimit(std::function<bool()> over)
    : over_(std::move(over)), around_(std::exchange(innermost, this)) {}

RoundLimit::~RoundLimit() { innermost = around_; }

bool rounds_are_over() {
  if (innermost == nullptr || !innermost->over_ || !innermost->over_()) return false;
  innermost->ended_ = true;
  return true;
}

}  // namespace sotto::fl
