#include "eval/baselines.h"

#include "eval/impression_evaluator.h"

namespace sotto {

std::vector<float> training_clicks(const Dataset& dataset) {
  std::vector<std::uint64_t> clicks(dataset.item_count(), 0);  // a float would stop counting at 2^24
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    const Impression impression = dataset.impression(i);
    if (impression.split != Split::train) continue;
    for (std::size_t j = 0; j < impression.shown.size(); ++j) {
      clicks[impression.shown[j]] += impression.clicked[j] != 0 ? 1 : 0;
    }
  }
  return {clicks.begin(), clicks.end()};
}

MeanImpressionMetrics evaluate_popularity(const Dataset& dataset,
                                          std::span<const std::uint32_t> impressions) {
  return evaluate_static_scores(dataset, impressions, training_clicks(dataset));
}

MeanImpressionMetrics evaluate_random(const Dataset& dataset, std::span<const std::uint32_t> impressions) {
  return evaluate_static_scores(dataset, impressions, std::vector<float>(dataset.item_count(), 0.0F));
}

}  // namespace sotto
