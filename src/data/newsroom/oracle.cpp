#include "data/newsroom/oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "metrics/mean.h"

namespace sotto::data {

namespace {

constexpr std::uint64_t largest_oracle_file = 1 << 20;

// The one list of names, for writing and reading.
constexpr std::array<std::pair<const char*, metrics::ImpressionMetrics NewsroomOracle::*>, 6> scorers{{
    {"best", &NewsroomOracle::best},
    {"history", &NewsroomOracle::history},
    {"category", &NewsroomOracle::category},
    {"true_appeal", &NewsroomOracle::true_appeal},
    {"popularity", &NewsroomOracle::popularity},
    {"random", &NewsroomOracle::random},
}};
constexpr std::array<std::pair<const char*, double metrics::ImpressionMetrics::*>, 4> metrics{{
    {"auc", &metrics::ImpressionMetrics::auc},
    {"mrr", &metrics::ImpressionMetrics::mrr},
    {"ndcg5", &metrics::ImpressionMetrics::ndcg5},
    {"ndcg10", &metrics::ImpressionMetrics::ndcg10},
}};

}  // namespace

double NewsroomOracle::share_of_attainable(double auc) const {
  const double attainable = best.auc - popularity.auc;
  return attainable > 0 ? (auc - popularity.auc) / attainable : 0;
}

nlohmann::json to_json(const NewsroomReport& report) {
  nlohmann::json json;
  for (const auto& [scorer, metrics_of] : scorers)
    for (const auto& [metric, value_of] : metrics) json[scorer][metric] = report.oracle.*metrics_of.*value_of;
  json["shares"] = {{"history_of_attainable", report.oracle.share_of_attainable(report.oracle.history.auc)},
                    {"category_of_attainable", report.oracle.share_of_attainable(report.oracle.category.auc)},
                    {"unseen_test_candidates", report.shape.unseen_share},
                    {"test_impressions_without_history", report.shape.empty_history_share}};
  json["shape"] = {{"train_impressions", report.shape.train_impressions},
                   {"test_impressions", report.shape.test_impressions},
                   {"train_impressions_per_user", report.shape.train_impressions_per_user},
                   {"history_mean", report.shape.history_mean},
                   {"history_median", report.shape.history_median},
                   {"shown_mean", report.shape.shown_mean},
                   {"clicks_mean", report.shape.clicks_mean}};
  json["counts"] = {{"users", report.counts.users},
                    {"items", report.counts.items},
                    {"impressions", report.counts.impressions},
                    {"clicks", report.counts.clicks}};
  return json;
}

Result<NewsroomOracle> read_oracle(const fs::path& directory) {
  const fs::path path = directory / oracle_file;
  SOTTO_TRY(const std::string text, read_file(path, largest_oracle_file));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  NewsroomOracle oracle;
  for (const auto& [scorer, metrics_of] : scorers)
    for (const auto& [metric, value_of] : metrics) {
      const nlohmann::json::json_pointer where(fmt::format("/{}/{}", scorer, metric));
      if (!json.is_object() || !json.contains(where) || !json.at(where).is_number())
        return bad_input("{} has no number {}/{}: generate the newsroom again", path.string(), scorer,
                         metric);
      const double value = json.at(where).get<double>();
      if (!(value >= 0 && value <= 1))
        return bad_input("{}: {}/{} is not between 0 and 1: generate the newsroom again", path.string(),
                         scorer, metric);
      oracle.*metrics_of.*value_of = value;
    }
  return oracle;
}

}  // namespace sotto::data

namespace sotto::data::newsroom {

namespace {

std::vector<float> recent_click_rates(const World& world, const std::vector<ReaderChunk>& chunks) {
  constexpr int popularity_days = 2;
  const Seconds since = (world.calendar.test_day() - popularity_days) * seconds_per_day;
  metrics::ClickRates rates(world.items.size());
  for (const ReaderChunk& chunk : chunks)
    for (const RecordedImpression& impression : chunk.impressions)
      if (!impression.test && impression.time >= since)
        rates.add(chunk.shown_in(impression), chunk.clicked_in(impression));
  return rates.smoothed();
}

// Metrics on the test day of score(item, its true scores).
template <class Score>
metrics::ImpressionMetrics measure(const std::vector<ReaderChunk>& chunks, const Score& score) {
  const auto sum = metrics::sum_in_chunks<metrics::ImpressionMetricsSum>(
      chunks.size(),
      [&](std::size_t begin, std::size_t end, metrics::ImpressionMetricsSum& total) {
        std::vector<float> scores;
        for (std::size_t c = begin; c < end; ++c)
          for (const RecordedImpression& impression : chunks[c].impressions) {
            if (!impression.test) continue;
            const auto shown = chunks[c].shown_in(impression);
            const auto known = chunks[c].scores_of(impression);
            scores.resize(shown.size());
            for (std::size_t i = 0; i < shown.size(); ++i) scores[i] = score(shown[i], known[i]);
            total.add(metrics::impression_metrics(scores, chunks[c].clicked_in(impression)));
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

}  // namespace sotto::data::newsroom
