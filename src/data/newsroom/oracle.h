#pragma once
// What can be attained on the test day: the true model's score, scores with less knowledge, and baselines.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset.h"
#include "data/newsroom/simulation.h"
#include "metrics/ranking.h"

namespace sotto::data {

// What a generated newsroom knows about itself: how hard it is and what it looks like. Stored as oracle.json
// beside the data, so that every model can be read as a share of what is attainable.

// Ranking metrics on the test impressions, by what the scorer is allowed to know.
struct NewsroomOracle {
  metrics::ImpressionMetrics
      best;  // true interests and true popularity: nobody does better without the position
  metrics::ImpressionMetrics history;      // true themes of the clicks before the impression, true popularity
  metrics::ImpressionMetrics category;     // true interest averaged per category, true popularity
  metrics::ImpressionMetrics true_appeal;  // true popularity alone
  metrics::ImpressionMetrics popularity;   // click rate in the last two training days: what anyone can count
  metrics::ImpressionMetrics random;

  // 0 for the popularity baseline, 1 for the best possible.
  double share_of_attainable(double auc) const;
};

struct NewsroomShape {
  std::uint64_t train_impressions = 0, test_impressions = 0, clicks = 0;
  double train_impressions_per_user = 0;
  double history_mean = 0, history_median = 0;  // over impressions, as MIND's are counted
  double shown_mean = 0, clicks_mean = 0;       // per impression
  double unseen_share = 0;         // test candidates that training neither shows nor has in a history
  double empty_history_share = 0;  // test impressions without any history
};

struct NewsroomReport {
  NewsroomOracle oracle;
  NewsroomShape shape;
  DatasetCounts counts{};
};

nlohmann::json to_json(const NewsroomReport& report);

constexpr const char* oracle_file = "oracle.json";
// The oracle of a generated data set; an error when the directory has none, for example because it was
// imported.
Result<NewsroomOracle> read_oracle(const fs::path& directory);

}  // namespace sotto::data

namespace sotto::data::newsroom {

// Popularity is the smoothed click rate of the last two training days.
NewsroomOracle measure_oracle(const World& world, const std::vector<ReaderChunk>& chunks);
NewsroomShape measure_shape(const World& world, const std::vector<ReaderChunk>& chunks, std::uint64_t users);

}  // namespace sotto::data::newsroom
