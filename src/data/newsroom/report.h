#pragma once
// What a generated newsroom knows about itself: how hard it is and what it looks like. Stored as oracle.json
// beside the data, so that every model can be read as a share of what is attainable.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset.h"
#include "metrics/ranking.h"

namespace sotto {

// Ranking metrics on the test impressions, by what the scorer is allowed to know.
struct NewsroomOracle {
  ImpressionMetrics best;      // true interests and true popularity: nobody does better without the position
  ImpressionMetrics history;   // true themes of the clicks before the impression, true popularity
  ImpressionMetrics category;  // true interest averaged per category, true popularity
  ImpressionMetrics true_appeal;  // true popularity alone
  ImpressionMetrics popularity;   // click rate in the last two training days: what anyone can count
  ImpressionMetrics random;

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

}  // namespace sotto
