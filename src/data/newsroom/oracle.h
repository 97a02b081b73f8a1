#pragma once
// What can be attained on the test day: the true model's score, scores with less knowledge, and baselines.

#include <cstdint>
#include <vector>

#include "data/newsroom/report.h"
#include "data/newsroom/simulation.h"

namespace sotto::newsroom {

// Popularity is the smoothed click rate of the last two training days.
NewsroomOracle measure_oracle(const World& world, const std::vector<ReaderChunk>& chunks);
NewsroomShape measure_shape(const World& world, const std::vector<ReaderChunk>& chunks, std::uint64_t users);

}  // namespace sotto::newsroom
