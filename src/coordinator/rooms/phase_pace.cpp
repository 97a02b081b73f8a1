#include "coordinator/rooms/phase_pace.h"

#include <algorithm>
#include <vector>

namespace sotto::coordinator {

void PhasePace::answered(secagg::ServerPhase phase, RoomTime took) {
  auto& times = times_.at(static_cast<std::size_t>(phase));
  times.push_back(took);
  if (times.size() > remembered) times.pop_front();
}

RoomTime PhasePace::deadline(secagg::ServerPhase phase) const {
  const auto& times = times_.at(static_cast<std::size_t>(phase));
  if (times.empty()) return longest_;
  std::vector<RoomTime> sorted(times.begin(), times.end());
  const std::size_t at = (sorted.size() - 1) * 95 / 100;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end());
  return std::clamp(sorted[at] * 3 / 2, shortest_, longest_);
}

}  // namespace sotto::coordinator
