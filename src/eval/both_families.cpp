#include "eval/both_families.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "data/views.h"
#include "eval/dot_rows.h"
#include "eval/interaction_evaluator.h"
#include "eval/recommender_evaluator.h"
#include "metrics/mean.h"
#include "metrics/unit_of_metrics.h"
#include "publish/two_tower_rows.h"

namespace sotto::eval {

using nlohmann::json;

namespace {

std::vector<data::ItemId> all_items_of(const data::Dataset& dataset) {
  std::vector<data::ItemId> all(dataset.item_count());
  std::iota(all.begin(), all.end(), data::ItemId{0});
  return all;
}

// What a reader clicked in an impression, among all items not clicked before. Keeps its marks between calls.
class ClickedAmongAll {
 public:
  explicit ClickedAmongAll(const data::Dataset& dataset) : touched_(dataset.item_count(), 0) {}

  std::optional<metrics::HeldOutMetrics> judge(const data::Impression& impression,
                                               std::span<const float> scores) {
    std::vector<data::ItemId> clicked;
    for (std::size_t place = 0; place < impression.shown.size(); ++place)
      if (impression.clicked[place] != 0) clicked.push_back(impression.shown[place]);
    if (clicked.empty()) return std::nullopt;
    mark(impression.history, clicked, 1);
    const auto found = metrics::held_out_metrics(scores, touched_, clicked);
    mark(impression.history, clicked, 0);
    return found;
  }

 private:
  void mark(std::span<const data::ItemId> history, std::span<const data::ItemId> clicked, std::uint8_t as) {
    for (const data::ItemId item : history) touched_[item] = as;
    for (const data::ItemId item : clicked) touched_[item] = as;
  }
  std::vector<std::uint8_t> touched_;
};

using EachHeldOut = std::vector<std::optional<metrics::HeldOutMetrics>>;

// Two towers: every item and every history encoded once, the rest on all threads.
EachHeldOut by_towers(model::NewsRecommender& towers, const data::Dataset& dataset,
                      std::span<const std::uint32_t> impressions, std::size_t max_history) {
  std::vector<std::span<const data::ItemId>> histories;
  std::vector<data::UserId> users;
  for (const std::uint32_t index : impressions) {
    histories.push_back(dataset.impression(index).history);
    users.push_back(dataset.impression(index).user);
  }
  const auto catalogue = publish::encode_catalogue(towers, dataset.item_count());
  if (!catalogue) return {};  // stopped: whoever asked looks at that too
  const publish::Rows& items = *catalogue;
  const auto encoded = publish::encode_histories(towers, items, max_history, histories, users);
  if (!encoded) return {};
  const publish::Rows& readers = *encoded;
  const std::vector<data::ItemId> all = all_items_of(dataset);
  EachHeldOut each(impressions.size());
  Progress progress("ranking all items", impressions.size(), "impressions");
  parallel_for(impressions.size(), 16, [&](std::size_t begin, std::size_t end) {
    if (interrupted()) return;
    ClickedAmongAll clicked(dataset);
    std::vector<float> scores(all.size());
    for (std::size_t i = begin; i < end; ++i) {
      dot_rows(readers[i].data(), items.values.data(), items.width, all, scores.data());
      each[i] = clicked.judge(dataset.impression(impressions[i]), scores);
    }
    progress.advance(end - begin);
  });
  return each;
}

// Models that know pairs alone are asked about one reader and all items at a time.
EachHeldOut by_pairs(model::RankingModel& model, const data::Dataset& dataset,
                     std::span<const std::uint32_t> impressions, std::size_t max_history) {
  const std::vector<data::ItemId> all = all_items_of(dataset);
  const std::vector<std::int64_t> of_one_history(all.size(), 0), every_item(all.begin(), all.end());
  EachHeldOut each(impressions.size());
  ClickedAmongAll clicked(dataset);
  Progress progress("ranking all items", impressions.size(), "impressions");
  for (std::size_t i = 0; i < impressions.size() && !interrupted(); ++i) {
    const data::Impression impression = dataset.impression(impressions[i]);
    const auto recent = impression.history.last(std::min(impression.history.size(), max_history));
    model::Histories history;
    history.add(std::vector<std::int64_t>(recent.begin(), recent.end()), impression.user);
    model::Pass pass = model::Pass::evaluation();
    const torch::Tensor scores = model.scores({all, history, of_one_history, every_item}, pass)
                                     .to(torch::kCPU, torch::kFloat32)
                                     .contiguous();
    each[i] = clicked.judge(impression, {scores.data_ptr<float>(), all.size()});
    progress.advance();
  }
  return each;
}

}  // namespace

metrics::HeldOutReport among_all_items(model::RankingModel& model, const data::Dataset& dataset,
                                       std::span<const std::uint32_t> impressions, std::size_t max_history) {
  const torch::NoGradGuard no_grad;
  auto* towers = dynamic_cast<model::NewsRecommender*>(&model);
  const EachHeldOut each = towers != nullptr ? by_towers(*towers, dataset, impressions, max_history)
                                             : by_pairs(model, dataset, impressions, max_history);
  metrics::HeldOutReport report;
  metrics::HeldOutMetricsSum sum;
  for (const auto& one : each) {
    if (!one) continue;
    sum.add(*one);
    report.each.push_back(*one);
  }
  report.mean = sum.mean();
  report.users = report.each.size();
  report.left_out = each.size() - report.each.size();
  return report;
}

namespace {

// Every held-out row as an impression: the item among others that its user never touched.
class RowsAsImpressions {
 public:
  explicit RowsAsImpressions(const data::Dataset& dataset) : dataset_(dataset) {}

  void take(data::UserId user, std::span<const std::uint64_t> rows, const float* scores) {
    const data::Interactions& log = dataset_.interactions();
    const auto items = log.items.subspan(log.user_offsets[user],
                                         log.user_offsets[user + std::size_t{1}] - log.user_offsets[user]);
    std::vector<data::ItemId> touched(items.begin(), items.end());
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    const std::size_t untouched = dataset_.item_count() - touched.size();
    for (const std::uint64_t row : rows) {
      SeededRandom random(seed, Purpose::impression_view, static_cast<std::uint32_t>(row >> 32),
                          static_cast<std::uint32_t>(row));
      const auto drawn = sample_without_replacement(
          static_cast<std::uint32_t>(untouched),
          static_cast<std::uint32_t>(std::min<std::size_t>(others, untouched)), random);
      std::vector<float> shown = {scores[log.items[row]]};
      for (const std::uint32_t place : drawn) shown.push_back(scores[untouched_item(touched, place)]);
      std::vector<std::uint8_t> clicked(shown.size(), 0);
      clicked.front() = 1;
      sum_.add(metrics::impression_metrics(shown, clicked));
    }
  }
  metrics::MeanImpressionMetrics mean() const { return sum_.mean(); }

 private:
  // The item at this place of those that are not in the sorted list.
  static data::ItemId untouched_item(const std::vector<data::ItemId>& touched, std::uint32_t place) {
    data::ItemId item = place;
    for (const data::ItemId known : touched) {
      if (known > item) break;
      ++item;
    }
    return item;
  }

  static constexpr std::uint64_t seed = 1;
  static constexpr auto others = static_cast<std::size_t>(data::ViewSettings{}.negatives);
  const data::Dataset& dataset_;
  metrics::ImpressionMetricsSum sum_;
};

}  // namespace

Result<BothFamilies> evaluate_both(EvaluateJob job, const data::Dataset& dataset) {
  BothFamilies both;
  job.evaluate = [&](model::RankingModel& model, const data::Dataset& tested,
                     std::span<const std::uint32_t> impressions, std::size_t max_history) {
    both.of_impressions = true;
    both.all_items = among_all_items(model, tested, impressions, max_history);
    return evaluate_with_progress(model, tested, impressions, max_history);
  };
  job.evaluate_held_out = [&](const data::Dataset& tested, const fl::InteractionData& data,
                              const recipes::ScoreTestUsers& score) {
    RowsAsImpressions rows(tested);
    both.all_items = evaluate_interactions(tested, data, [&](const fl::TakeScores& take) {
      score([&](std::size_t user, std::span<const std::uint64_t> own, const float* scores) {
        take(user, own, scores);
        rows.take(data.test[user].support.user, own, scores);
      });
    });
    both.impressions = rows.mean();
    return both.all_items;
  };
  SOTTO_TRY(const auto measured, evaluate_run(job, dataset));
  if (both.of_impressions) both.impressions = std::get<metrics::MeanImpressionMetrics>(measured);
  return both;
}

json to_json(const BothFamilies& both) {
  json all_items = to_json(both.all_items.mean);
  const json errors = to_json(metrics::standard_errors(both.all_items));
  for (const auto& [name, error] : errors.items()) all_items[name + "_error"] = error;
  all_items["unit_of_metrics"] = metrics::unit_of_metrics;
  return {{"impressions", to_json(both.impressions)}, {"all_items", all_items}};
}

}  // namespace sotto::eval
