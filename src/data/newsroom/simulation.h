#pragma once
// Lets every reader read: histories, recorded impressions and clicks, and for the test day what the true
// model thinks of each candidate.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "data/newsroom/world.h"

namespace sotto::data::newsroom {

// Scores of one shown item on the test day, by what the scorer is allowed to know.
struct TrueScores {
  float best;      // interest, drift and popularity, all true
  float history;   // themes of the reader's past clicks, true popularity
  float category;  // true long-term interest averaged per category, true popularity
  float appeal;    // true popularity alone
};

struct RecordedImpression {
  std::uint32_t user = 0;
  Seconds time = 0;
  std::uint32_t history_length = 0;                // clicks of the reader before it
  std::uint32_t first_shown = 0, shown_count = 0;  // in ReaderChunk::shown and clicked
  bool test = false;
  std::uint32_t first_score = 0;  // in ReaderChunk::scores; test only
};

// Consecutive readers, in time order within each. The clicks of a reader are one growing list, of which every
// impression sees the beginning.
struct ReaderChunk {
  std::uint32_t first_user = 0;
  std::vector<std::uint32_t> click_offsets;  // readers + 1
  std::vector<std::uint32_t> clicks;
  std::vector<RecordedImpression> impressions;
  std::vector<std::uint32_t> shown;
  std::vector<std::uint8_t> clicked;
  std::vector<TrueScores> scores;

  std::span<const std::uint32_t> history_of(const RecordedImpression& impression) const;
  std::span<const std::uint32_t> shown_in(const RecordedImpression& impression) const;
  std::span<const std::uint8_t> clicked_in(const RecordedImpression& impression) const;
  std::span<const TrueScores> scores_of(const RecordedImpression& impression) const;
};

// In order of readers; the same for any number of threads. Fails only when interrupted.
Result<std::vector<ReaderChunk>> simulate_readers(const World& world, const NewsroomSettings& settings);

}  // namespace sotto::data::newsroom
