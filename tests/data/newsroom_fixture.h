#pragma once
// Small newsrooms for the tests, in memory.

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "data/newsroom/oracle.h"
#include "data/newsroom/simulation.h"
#include "data/newsroom/world.h"

namespace sotto::data::newsroom {

inline NewsroomSettings small_newsroom(std::int64_t users = 500, std::int64_t news = 400,
                                       std::int64_t seed = 1) {
  NewsroomSettings settings;
  settings.users = users;
  settings.news = news;
  settings.seed = seed;
  return settings;
}

struct Simulated {
  World world;
  std::vector<ReaderChunk> chunks;
  NewsroomOracle oracle;
  NewsroomShape shape;
};

inline Simulated simulate(const NewsroomSettings& settings) {
  Simulated result;
  auto world = build_world(settings);
  if (!world) {
    ADD_FAILURE() << world.error().message;
    return result;
  }
  result.world = std::move(*world);
  auto chunks = simulate_readers(result.world, settings);
  if (!chunks) {
    ADD_FAILURE() << chunks.error().message;
    return result;
  }
  result.chunks = std::move(*chunks);
  result.oracle = measure_oracle(result.world, result.chunks);
  result.shape = measure_shape(result.world, result.chunks, static_cast<std::uint64_t>(settings.users));
  return result;
}

// Calls visit(chunk, impression) for all impressions.
template <class Visit>
void for_each_impression(const std::vector<ReaderChunk>& chunks, const Visit& visit) {
  for (const ReaderChunk& chunk : chunks)
    for (const RecordedImpression& impression : chunk.impressions) visit(chunk, impression);
}

}  // namespace sotto::data::newsroom
