#pragma once
// Ends training before its last round, for callers whose time is limited. Like Ctrl-C it is looked at between
// rounds; unlike it, the round it ends at is the last one, so that what is trained is tested and kept.

#include <functional>

namespace sotto::fl {

// Training by this thread ends behind the first round after which `over` says so; the innermost limit counts.
// An empty one lifts those around it: for recipes whose rounds mean nothing one by one.
class RoundLimit {
 public:
  explicit RoundLimit(std::function<bool()> over);
  ~RoundLimit();
  RoundLimit(const RoundLimit&) = delete;
  RoundLimit& operator=(const RoundLimit&) = delete;

  bool ended_training() const { return ended_; }

 private:
  friend bool rounds_are_over();
  std::function<bool()> over_;
  RoundLimit* around_;
  bool ended_ = false;
};

// For whoever runs rounds, between two of them.
bool rounds_are_over();

}  // namespace sotto::fl
