#include "eval/baselines.h"

#include "eval/impression_evaluator.h"
#include "metrics/click_rate.h"

namespace sotto {

std::vector<float> training_click_rates(const Dataset& dataset) {
  ClickRates rates(dataset.item_count());
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    const Impression impression = dataset.impression(i);
    if (impression.split == Split::train) rates.add(impression.shown, impression.clicked);
  }
  return rates.smoothed();
}

MeanImpressionMetrics evaluate_popularity(const Dataset& dataset,
                                          std::span<const std::uint32_t> impressions) {
  return evaluate_static_scores(dataset, impressions, training_click_rates(dataset));
}

MeanImpressionMetrics evaluate_random(const Dataset& dataset, std::span<const std::uint32_t> impressions) {
  return evaluate_static_scores(dataset, impressions, std::vector<float>(dataset.item_count(), 0.0F));
}

}  // namespace sotto
