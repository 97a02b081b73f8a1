#include "eval/impression_evaluator.h"

#include <cassert>

#include "base/interrupt.h"
#include "base/progress.h"
#include "eval/dot_rows.h"
#include "metrics/mean.h"

namespace sotto::eval {

metrics::MeanImpressionMetrics evaluate_impressions(const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    const ImpressionScorer& scorer, EachImpression* each) {
  if (each) each->assign(impressions.size(), std::nullopt);
  Progress progress("ranking", impressions.size(), "impressions");
  return metrics::sum_in_chunks<metrics::ImpressionMetricsSum>(
             impressions.size(),
             [&](std::size_t begin, std::size_t end, metrics::ImpressionMetricsSum& sum) {
               if (interrupted()) return;
               std::vector<float> scores;
               for (std::size_t position = begin; position < end; ++position) {
                 const data::Impression impression = dataset.impression(impressions[position]);
                 scores.assign(impression.shown.size(), 0.0F);
                 scorer(position, impression, scores);
                 const auto found = metrics::impression_metrics(scores, impression.clicked);
                 if (each) (*each)[position] = found;
                 sum.add(found);
               }
               progress.advance(end - begin);
             })
      .mean();
}

metrics::MeanImpressionMetrics evaluate_impressions(const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    std::span<const float> item_vectors,
                                                    std::span<const float> user_vectors, std::size_t d,
                                                    EachImpression* each) {
  assert(item_vectors.size() == dataset.item_count() * d);
  assert(user_vectors.size() == impressions.size() * d);
  return evaluate_impressions(
      dataset, impressions,
      [&](std::size_t position, const data::Impression& impression, std::span<float> scores) {
        dot_rows(user_vectors.data() + position * d, item_vectors.data(), d, impression.shown, scores.data());
      },
      each);
}

metrics::MeanImpressionMetrics evaluate_static_scores(const data::Dataset& dataset,
                                                      std::span<const std::uint32_t> impressions,
                                                      std::span<const float> item_scores) {
  assert(item_scores.size() == dataset.item_count());
  return evaluate_impressions(dataset, impressions,
                              [&](std::size_t, const data::Impression& impression, std::span<float> scores) {
                                for (std::size_t j = 0; j < scores.size(); ++j)
                                  scores[j] = item_scores[impression.shown[j]];
                              });
}

std::vector<std::uint32_t> impressions_of_split(const data::Dataset& dataset, data::Split split) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    if (dataset.impression(i).split == split) chosen.push_back(static_cast<std::uint32_t>(i));
  }
  return chosen;
}

std::vector<float> training_click_rates(const data::Dataset& dataset) {
  metrics::ClickRates rates(dataset.item_count());
  Progress progress("counting clicks", dataset.impression_count(), "impressions");
  for (std::size_t i = 0; i < dataset.impression_count() && !interrupted(); ++i) {
    progress.advance();
    const data::Impression impression = dataset.impression(i);
    if (impression.split == data::Split::train) rates.add(impression.shown, impression.clicked);
  }
  return rates.smoothed();
}

metrics::MeanImpressionMetrics evaluate_popularity(const data::Dataset& dataset,
                                                   std::span<const std::uint32_t> impressions) {
  return evaluate_static_scores(dataset, impressions, training_click_rates(dataset));
}

metrics::MeanImpressionMetrics evaluate_random(const data::Dataset& dataset,
                                               std::span<const std::uint32_t> impressions) {
  return evaluate_static_scores(dataset, impressions, std::vector<float>(dataset.item_count(), 0.0F));
}

}  // namespace sotto::eval
