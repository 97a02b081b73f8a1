#include "local/examples.h"

#include <algorithm>

#include "base/even_sample.h"

namespace sotto::local {

void ExampleSettings::bind(SettingsTable& table, std::int64_t longest) {
  table.add("negatives", negatives, {1, 100}, "Non-clicked items of the same impression per click (K)")
      .add("max_history", max_history, {1, longest},
           "Most recent clicks of a history that the user model reads")
      .add("max_examples", max_examples, {1, 100'000},
           "Most recent clicks that a device learns from at once");
}

Result<std::vector<RankingExample>> examples_of(std::span<const OwnImpression> impressions,
                                                const ExampleSettings& settings, RandomSource& draws) {
  std::size_t clicks = 0;
  const auto clicks_to_rank = [](const OwnImpression& impression) {
    const auto clicked = static_cast<std::size_t>(std::count_if(
        impression.clicked.begin(), impression.clicked.end(), [](auto one) { return one != 0; }));
    return clicked < impression.clicked.size() ? clicked : 0;
  };
  for (const OwnImpression& impression : impressions) {
    if (impression.clicked.size() != impression.shown.size())
      return bad_input(
          "an impression of {} items says of {} whether they were clicked: store one mark for each",
          impression.shown.size(), impression.clicked.size());
    clicks += clicks_to_rank(impression);
  }
  const auto most = static_cast<std::size_t>(settings.max_examples);
  std::size_t too_old = clicks > most ? clicks - most : 0;

  std::vector<RankingExample> examples;
  examples.reserve(std::min(clicks, most));
  for (const OwnImpression& impression : impressions) {
    if (clicks_to_rank(impression) == 0) continue;
    const auto history = impression.history.last(
        std::min(impression.history.size(), static_cast<std::size_t>(settings.max_history)));
    for (std::size_t position = 0; position < impression.shown.size(); ++position) {
      if (impression.clicked[position] == 0) continue;
      if (too_old > 0) {
        --too_old;
        continue;
      }
      std::vector<ItemRow> candidates;
      for (std::size_t other = 0; other < impression.shown.size(); ++other)
        if (impression.clicked[other] == 0) candidates.push_back(impression.shown[other]);
      sample_evenly(candidates, static_cast<std::size_t>(settings.negatives), draws);
      candidates.insert(candidates.begin(), impression.shown[position]);
      examples.push_back({history, std::move(candidates)});
    }
  }
  return examples;
}

}  // namespace sotto::local
