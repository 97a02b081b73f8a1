#include "eval/experiments/serving/serving_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/thread_pool.h"
#include "eval/dot_rows.h"
#include "metrics/ranking.h"
#include "publish/rows.h"

namespace sotto::eval::private_serving {

namespace {

constexpr std::size_t shown_first = 10;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t hits10 = 1;
static_assert(metrics::HeldOutMetrics::cutoffs[hits10] == 10);

// Share of the clicked items among the ten first; clicked ones do not compete with each other.
double hits_in_impression(std::span<const float> scores, std::span<const std::uint8_t> clicked) {
  double hits = 0, clicks = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (clicked[c] == 0) continue;
    std::uint64_t greater = 0, equal = 0;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (clicked[j] != 0) continue;
      greater += scores[j] > scores[c] ? 1 : 0;
      equal += scores[j] == scores[c] ? 1 : 0;
    }
    hits += metrics::held_out_metrics(greater, equal).hits[hits10];
    ++clicks;
  }
  return hits / clicks;
}

// The best `count` items, best first; ties by number.
std::vector<data::ItemId> best_items(const std::vector<float>& scores, std::vector<data::ItemId> candidates,
                                     std::size_t count) {
  count = std::min(count, candidates.size());
  const auto better = [&](data::ItemId a, data::ItemId b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(candidates.begin(), end, candidates.end(), better);
  std::sort(candidates.begin(), end, better);
  candidates.resize(count);
  return candidates;
}

// What one reader sees and should have seen.
class ReaderView {
 public:
  ReaderView(const data::Impression& impression, std::vector<float> true_scores,
             const std::vector<data::ItemId>& all)
      : seen_(true_scores.size(), 0), true_scores_(std::move(true_scores)) {
    for (const data::ItemId item : impression.history) seen_[item] = 1;
    for (std::size_t j = 0; j < impression.shown.size(); ++j)
      if (impression.clicked[j] != 0) clicked_.push_back(impression.shown[j]);
    best_ = best_items(true_scores_, unseen(all), shown_first);
  }
  std::vector<data::ItemId> unseen(const std::vector<data::ItemId>& items) const {
    std::vector<data::ItemId> left;
    std::copy_if(items.begin(), items.end(), std::back_inserter(left),
                 [&](data::ItemId item) { return seen_[item] == 0; });
    return left;
  }
  std::vector<data::ItemId> reranked(const std::vector<data::ItemId>& returned) const {
    return best_items(true_scores_, unseen(returned), shown_first);
  }
  void judge(std::span<const data::ItemId> list, std::size_t row, PoolQuality& quality) const {
    list = list.first(std::min(list.size(), shown_first));
    const auto share_in_list = [&](const std::vector<data::ItemId>& wanted) {
      const auto found = std::count_if(wanted.begin(), wanted.end(), [&](data::ItemId item) {
        return std::find(list.begin(), list.end(), item) != list.end();
      });
      return wanted.empty() ? nothing : static_cast<double>(found) / static_cast<double>(wanted.size());
    };
    quality.hits10[row] = share_in_list(clicked_);
    quality.found10[row] = share_in_list(best_);
    double sum = 0;
    for (const data::ItemId item : list) sum += true_scores_[item];
    quality.score10[row] = list.empty() ? nothing : sum / static_cast<double>(list.size());
  }

 private:
  std::vector<std::uint8_t> seen_;
  std::vector<float> true_scores_;
  std::vector<data::ItemId> clicked_, best_;
};

PoolQuality blank(std::size_t rows) {
  const std::vector<double> values(rows, nothing);
  return {values, values, values};
}

// Standard error of Σ deviations / queries, where the deviations of one reader go together.
double clustered_error(std::span<const double> deviations, std::span<const std::uint32_t> reader_of) {
  double squares = 0, of_reader = 0, queries = 0;
  std::size_t readers = 0;
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    if (std::isfinite(deviations[i])) {
      of_reader += deviations[i];
      ++queries;
    }
    if (i + 1 == deviations.size() || reader_of[i + 1] != reader_of[i]) {
      squares += of_reader * of_reader;
      of_reader = 0;
      ++readers;
    }
  }
  if (readers < 2 || queries == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(readers);
  return std::sqrt(squares * count / (count - 1)) / queries;
}

}  // namespace

namespace {

// score(i, shown, out): of the items shown to query i.
template <class Score>
ImpressionQuality quality_by(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                             const Score& score) {
  const std::vector<double> blank_values(impressions.size(), nothing);
  ImpressionQuality quality{blank_values, blank_values, blank_values};
  parallel_for(impressions.size(), 64, [&](std::size_t begin, std::size_t end) {
    std::vector<float> scores;
    for (std::size_t i = begin; i < end; ++i) {
      const data::Impression impression = dataset.impression(impressions[i]);
      scores.resize(impression.shown.size());
      score(i, impression.shown, scores.data());
      const auto metrics = metrics::impression_metrics(scores, impression.clicked);
      if (!metrics) continue;
      quality.auc[i] = metrics->auc;
      quality.ndcg10[i] = metrics->ndcg10;
      quality.hits10[i] = hits_in_impression(scores, impression.clicked);
    }
  });
  return quality;
}

}  // namespace

ImpressionQuality impression_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     const Rows& items, const Rows& served) {
  return quality_by(dataset, impressions,
                    [&](std::size_t i, std::span<const data::ItemId> shown, float* scores) {
                      dot_rows(served[i].data(), items.values.data(), items.width, shown, scores);
                    });
}

ImpressionQuality impression_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     std::span<const ReturnedItems> lists) {
  return quality_by(
      dataset, impressions, [&](std::size_t i, std::span<const data::ItemId> shown, float* scores) {
        const ReturnedItems& list = lists[i];
        for (std::size_t j = 0; j < shown.size(); ++j) {
          const auto at = std::find(list.items.begin(), list.items.end(), shown[j]);
          scores[j] = at == list.items.end() ? std::numeric_limits<float>::lowest()
                                             : list.scores[static_cast<std::size_t>(at - list.items.begin())];
        }
      });
}

namespace {

// returned(i, all): the best items that query i brings back, best first.
template <class Returned>
PoolAnswers pool_quality_by(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                            const Rows& items, const Rows& truth, const Returned& returned) {
  std::vector<data::ItemId> all(items.size());
  std::iota(all.begin(), all.end(), data::ItemId{0});
  PoolAnswers answers{blank(truth.size()), blank(truth.size())};
  parallel_for(truth.size(), 8, [&](std::size_t begin, std::size_t end) {
    std::vector<float> scores(items.size());
    for (std::size_t i = begin; i < end; ++i) {
      dot_rows(truth[i].data(), items.values.data(), items.width, all, scores.data());
      const ReaderView reader(dataset.impression(impressions[i]), scores, all);
      const std::vector<data::ItemId> list = returned(i, all);
      reader.judge(reader.unseen(list), i, answers.server);
      reader.judge(reader.reranked(list), i, answers.reranked);
    }
  });
  return answers;
}

}  // namespace

PoolAnswers pool_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                         const Rows& items, const Rows& served, const Rows& truth, std::size_t answer) {
  return pool_quality_by(dataset, impressions, items, truth,
                         [&](std::size_t i, const std::vector<data::ItemId>& all) {
                           std::vector<float> scores(items.size());
                           dot_rows(served[i].data(), items.values.data(), items.width, all, scores.data());
                           return best_items(scores, all, answer);
                         });
}

PoolAnswers pool_quality(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                         const Rows& items, std::span<const ReturnedItems> lists, const Rows& truth,
                         std::size_t answer) {
  return pool_quality_by(dataset, impressions, items, truth,
                         [&](std::size_t i, const std::vector<data::ItemId>&) {
                           std::vector<data::ItemId> list = lists[i].items;
                           list.resize(std::min(answer, list.size()));
                           return list;
                         });
}

Estimate mean_by_reader(std::span<const double> values, std::span<const std::uint32_t> reader_of) {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  const double mean = sum / count;
  std::vector<double> deviations(values.begin(), values.end());
  for (double& deviation : deviations) deviation -= mean;
  return {mean, clustered_error(deviations, reader_of)};
}

Estimate share_of_gain(std::span<const double> values, std::span<const double> floor,
                       std::span<const double> ceiling, std::span<const std::uint32_t> reader_of) {
  double gained = 0, possible = 0, count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i] + floor[i] + ceiling[i])) continue;
    gained += values[i] - floor[i];
    possible += ceiling[i] - floor[i];
    ++count;
  }
  if (possible == 0)
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  const double share = gained / possible;
  std::vector<double> influence(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    influence[i] = ((values[i] - floor[i]) - share * (ceiling[i] - floor[i])) * count / possible;
  return {share, clustered_error(influence, reader_of)};
}

}  // namespace sotto::eval::private_serving
