#pragma once
// A whole round in one process with a stopwatch on every step.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "secagg/shared/parameters.h"
#include "secagg/shared/ring_vector.h"
#include "secagg/shared/round.h"

namespace sotto::bench {

struct RoundTiming {
  double client_seconds = 0;  // processor time over all steps, mean over the clients that stayed
  double server_seconds = 0;  // on the clock, over the whole round, with the threads of the pool
  double bytes_up = 0;        // per client that stayed
  double bytes_down = 0;
  std::vector<std::uint64_t> sum;
};

// The first `lost` clients vanish after sharing, which leaves the server the most work. `input(client)` is
// called once per client that uploads; no more than one vector is held at a time beside the server's sum.
Result<RoundTiming> time_round(const secagg::GroupParameters& group, const secagg::VectorShape& shape,
                               std::uint32_t lost,
                               const std::function<Result<secagg::RingVector>(std::uint32_t)>& input);

}  // namespace sotto::bench
