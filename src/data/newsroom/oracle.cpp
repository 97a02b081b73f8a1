#include "data/newsroom/oracle.h"

#include <algorithm>

#include "metrics/click_rate.h"
#include "metrics/mean.h"

namespace sotto::newsroom {
namespace {

std::vector<float> recent_click_rates(const World& world, const std::vector<ReaderChunk>& chunks) {
  constexpr int popularity_days = 2;
  const Seconds since = (world.calendar.test_day() - popularity_days) * seconds_per_day;
  ClickRates rates(world.items.size());
  for (const ReaderChunk& chunk : chunks)
    for (const RecordedImpression& impression : chunk.impressions)
      if (!impression.test && impression.time >= since)
        rates.add(chunk.shown_in(impression), chunk.clicked_in(impression));
  return rates.smoothed();
}

// Metrics on the test day of score(item, its true scores).
template <class Score>
ImpressionMetrics measure(const std::vector<ReaderChunk>& chunks, const Score& score) {
  const auto sum = sum_in_chunks<ImpressionMetricsSum>(
      chunks.size(),
      [&](std::size_t begin, std::size_t end, ImpressionMetricsSum& total) {
        std::vector<float> scores;
        for (std::size_t c = begin; c < end; ++c)
          for (const RecordedImpression& impression : chunks[c].impressions) {
            if (!impression.test) continue;
            const auto shown = chunks[c].shown_in(impression);
            const auto known = chunks[c].scores_of(impression);
            scores.resize(shown.size());
            for (std::size_t i = 0; i < shown.size(); ++i) scores[i] = score(shown[i], known[i]);
            total.add(impression_metrics(scores, chunks[c].clicked_in(impression)));
          }
      },
      1);
  return sum.mean().mean;
}

// Items that training shows or has in a history.
std::vector<bool> seen_in_training(const World& world, const std::vector<ReaderChunk>& chunks) {
  std::vector<bool> seen(world.items.size(), false);
  for (const ReaderChunk& chunk : chunks)
    for (const RecordedImpression& impression : chunk.impressions) {
      if (impression.test) continue;
      for (const std::uint32_t item : chunk.shown_in(impression)) seen[item] = true;
      for (const std::uint32_t item : chunk.history_of(impression)) seen[item] = true;
    }
  return seen;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

NewsroomOracle measure_oracle(const World& world, const std::vector<ReaderChunk>& chunks) {
  const std::vector<float> rates = recent_click_rates(world, chunks);
  NewsroomOracle oracle;
  oracle.best = measure(chunks, [](std::uint32_t, const TrueScores& known) { return known.best; });
  oracle.history = measure(chunks, [](std::uint32_t, const TrueScores& known) { return known.history; });
  oracle.category = measure(chunks, [](std::uint32_t, const TrueScores& known) { return known.category; });
  oracle.true_appeal = measure(chunks, [](std::uint32_t, const TrueScores& known) { return known.appeal; });
  oracle.popularity = measure(chunks, [&](std::uint32_t item, const TrueScores&) { return rates[item]; });
  // Equal scores are averaged over all orders, which is what a random order gives on average.
  oracle.random = measure(chunks, [](std::uint32_t, const TrueScores&) { return 0.0F; });
  return oracle;
}

NewsroomShape measure_shape(const World& world, const std::vector<ReaderChunk>& chunks, std::uint64_t users) {
  const std::vector<bool> seen = seen_in_training(world, chunks);
  NewsroomShape shape;
  std::vector<std::uint32_t> history_lengths;
  double history_sum = 0, shown_sum = 0, test_shown = 0, unseen = 0, unread = 0;
  for (const ReaderChunk& chunk : chunks)
    for (const RecordedImpression& impression : chunk.impressions) {
      const auto shown = chunk.shown_in(impression);
      const auto clicked = chunk.clicked_in(impression);
      ++(impression.test ? shape.test_impressions : shape.train_impressions);
      shape.clicks += static_cast<std::uint64_t>(std::count(clicked.begin(), clicked.end(), std::uint8_t{1}));
      history_lengths.push_back(impression.history_length);
      history_sum += impression.history_length;
      shown_sum += static_cast<double>(shown.size());
      if (!impression.test) continue;
      test_shown += static_cast<double>(shown.size());
      unread += impression.history_length == 0 ? 1 : 0;
      unseen += static_cast<double>(
          std::count_if(shown.begin(), shown.end(), [&](std::uint32_t item) { return !seen[item]; }));
    }
  if (!history_lengths.empty()) {
    const auto middle = history_lengths.begin() + static_cast<std::ptrdiff_t>(history_lengths.size() / 2);
    std::nth_element(history_lengths.begin(), middle, history_lengths.end());
    shape.history_median = *middle;
  }
  const auto impressions = static_cast<double>(history_lengths.size());
  shape.history_mean = ratio(history_sum, impressions);
  shape.shown_mean = ratio(shown_sum, impressions);
  shape.clicks_mean = ratio(static_cast<double>(shape.clicks), impressions);
  shape.train_impressions_per_user =
      ratio(static_cast<double>(shape.train_impressions), static_cast<double>(users));
  shape.unseen_share = ratio(unseen, test_shown);
  shape.empty_history_share = ratio(unread, static_cast<double>(shape.test_impressions));
  return shape;
}

}  // namespace sotto::newsroom
