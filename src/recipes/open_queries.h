#pragma once
// Queries that cost nothing: exact, and from clicks of categories alone that readers called not sensitive.
// Noise and charge follow from this setting, never from what was clicked.

#include "base/settings.h"
#include "recipes/news_run.h"

namespace sotto {

struct OpenQueries {
  std::string public_categories;  // separated by commas; empty: queries read all clicks
  void bind(SettingsTable& table);
  bool used() const { return !public_categories.empty(); }
  // Refuses categories that the data has not, and noise that would be spent on clicks which are told anyway.
  Status check(const Dataset& dataset, double serving_epsilon) const;
  // A finished run's outcome with the test metrics of such queries, and what they tell on its page.
  Result<TrainOutcome> finish(NewsRun& run, TrainOutcome outcome, const RunRequest& request,
                              std::int64_t max_history) const;
  // Test metrics of the best parameters.
  Result<TestMetrics> evaluate(NewsRun& run, const RunRequest& request, std::int64_t max_history) const;

 private:
  Result<MeanImpressionMetrics> measure(NewsRun& run, const RunRequest& request,
                                        std::int64_t max_history) const;
};

}  // namespace sotto
