#pragma once
// How long devices are waited for: half as long again as nearly all of them took lately, within the bounds of
// the campaign. Shared by the rooms of a campaign. Not thread-safe.

#include <array>
#include <chrono>
#include <deque>

#include "secagg/server/secagg_server.h"

namespace sotto::coordinator {

// Of a clock that never runs back, from any moment on.
using RoomTime = std::chrono::milliseconds;

class PhasePace {
 public:
  PhasePace(RoomTime shortest, RoomTime longest) : shortest_(shortest), longest_(longest) {}
  // A device answered in a phase, so long after it began.
  void answered(secagg::ServerPhase phase, RoomTime took);
  // 1.5 times the 95th percentile of the last answers; as long as allowed before there are any.
  RoomTime deadline(secagg::ServerPhase phase) const;

 private:
  static constexpr std::size_t remembered = 1000, phases = 5;
  RoomTime shortest_, longest_;
  std::array<std::deque<RoomTime>, phases> times_;
};

}  // namespace sotto::coordinator
