#include "eval/recommender_evaluator.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/interrupt.h"
#include "base/progress.h"
#include "eval/impression_evaluator.h"
#include "eval/served_vectors.h"
#include "fl/process_group.h"
#include "metrics/mean.h"
#include "model/news/items_at_once.h"
#include "model/news/news_recommender.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"

namespace sotto::eval {

using torch::Tensor;

namespace {

// Bound the memory of activations.
constexpr std::size_t users_at_once = 512, pairs_at_once = 4096;

// Items that the impressions show or have in their histories.
std::vector<data::ItemId> needed_items(const data::Dataset& dataset,
                                       std::span<const std::uint32_t> impressions) {
  std::vector<std::uint8_t> needed(dataset.item_count(), 0);
  for (const std::uint32_t index : impressions) {
    const data::Impression impression = dataset.impression(index);
    for (const data::ItemId item : impression.shown) needed[item] = 1;
    for (const data::ItemId item : impression.history) needed[item] = 1;
  }
  std::vector<data::ItemId> items;
  for (data::ItemId item = 0; item < needed.size(); ++item)
    if (needed[item]) items.push_back(item);
  return items;
}

// The bar of a test, once it is known how much there is to do.
class TestBar {
 public:
  explicit TestBar(const char* name) : name_(name) {}
  void begin(std::size_t total, const char* unit) {
    bar_.emplace(name_, total, unit);
    bar_->set(0);  // is there before the first part is done
  }
  void advance(std::size_t by) { bar_->advance(by); }

 private:
  const char* name_;
  std::optional<Progress> bar_;
};

// [N, D] with zero rows for items nobody needs.
Tensor item_table(model::NewsRecommender& model, const data::Dataset& dataset,
                  const std::vector<data::ItemId>& items, TestBar& bar) {
  Tensor table = torch::zeros({static_cast<std::int64_t>(dataset.item_count()), model.vector_size()});
  const std::size_t at_once = model::items_at_once(model);
  for (std::size_t first = 0; first < items.size() && !interrupted(); first += at_once) {
    const auto chunk = std::span(items).subspan(first, std::min(at_once, items.size() - first));
    model::Pass pass = model::Pass::evaluation();
    const Tensor rows = torch::tensor(std::vector<std::int64_t>(chunk.begin(), chunk.end()), torch::kInt64);
    table.index_copy_(0, rows, model.encode_items(chunk, pass).to(torch::kCPU));
    bar.advance(chunk.size());
  }
  return table;
}

std::span<const data::ItemId> recent_clicks(const data::Impression& impression, std::size_t max_history) {
  return impression.history.last(std::min(impression.history.size(), max_history));
}

struct DistinctHistories {
  struct Of {
    std::span<const data::ItemId> clicks;
    data::UserId user;
  };
  std::vector<Of> histories;
  std::vector<std::int64_t> of_impression;
};

DistinctHistories distinct_histories(const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     std::size_t max_history) {
  DistinctHistories distinct;
  std::map<std::tuple<const data::ItemId*, std::size_t, data::UserId>, std::int64_t> known;
  for (const std::uint32_t index : impressions) {
    const data::Impression impression = dataset.impression(index);
    const auto recent = recent_clicks(impression, max_history);
    const auto [entry, fresh] = known.try_emplace({recent.data(), recent.size(), impression.user},
                                                  static_cast<std::int64_t>(distinct.histories.size()));
    if (fresh) distinct.histories.push_back({recent, impression.user});
    distinct.of_impression.push_back(entry->second);
  }
  return distinct;
}

metrics::MeanImpressionMetrics evaluate_towers(model::NewsRecommender& model, const data::Dataset& dataset,
                                               std::span<const std::uint32_t> impressions,
                                               std::size_t max_history, EachImpression* each, TestBar bar) {
  const std::vector<data::ItemId> needed = needed_items(dataset, impressions);
  const DistinctHistories distinct = distinct_histories(dataset, impressions, max_history);
  bar.begin(needed.size() + distinct.histories.size(), "items and readers");
  const Tensor items = item_table(model, dataset, needed, bar);
  const Tensor on_device = items.to(model.parameters().front().device());

  std::vector<Tensor> users;
  for (std::size_t first = 0; first < distinct.histories.size(); first += users_at_once) {
    model::Histories batch;
    for (std::size_t u = first; u < std::min(distinct.histories.size(), first + users_at_once); ++u) {
      const auto& [clicks, user] = distinct.histories[u];
      batch.add(std::vector<std::int64_t>(clicks.begin(), clicks.end()), user);
    }
    model::Pass pass = model::Pass::evaluation();
    if (interrupted()) return {};
    users.push_back(model.encode_users(on_device, batch, pass).to(torch::kCPU));
    bar.advance(batch.size());
  }
  if (users.empty()) return {};
  const Tensor per_impression =
      torch::cat(users).index_select(0, torch::tensor(distinct.of_impression, torch::kInt64)).contiguous();
  const auto as_span = [](const Tensor& tensor) {
    return std::span<const float>(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  };
  return evaluate_impressions(dataset, impressions, as_span(items), as_span(per_impression),
                              static_cast<std::size_t>(model.vector_size()), each);
}

// Impressions gathered until there are enough pairs for one call of the model.
class PairChunk {
 public:
  void add(const data::Impression& impression, std::size_t max_history) {
    std::vector<std::int64_t> clicks;
    for (const data::ItemId item : recent_clicks(impression, max_history)) clicks.push_back(row_of(item));
    for (const data::ItemId item : impression.shown) {
      pair_history_.push_back(static_cast<std::int64_t>(histories_.size()));
      pair_item_.push_back(row_of(item));
    }
    histories_.add(clicks, impression.user);
  }
  std::size_t pairs() const { return pair_item_.size(); }
  // Appends the scores of all pairs, in the order they came.
  void score(model::RankingModel& model, std::vector<float>& scores) const {
    model::Pass pass = model::Pass::evaluation();
    const Tensor result = model.scores({items_, histories_, pair_history_, pair_item_}, pass)
                              .to(torch::kCPU, torch::kFloat32)
                              .contiguous();
    scores.insert(scores.end(), result.data_ptr<float>(), result.data_ptr<float>() + result.numel());
  }

 private:
  std::int64_t row_of(data::ItemId item) {
    const auto [entry, fresh] = rows_.try_emplace(item, static_cast<std::int64_t>(items_.size()));
    if (fresh) items_.push_back(item);
    return entry->second;
  }

  std::vector<data::ItemId> items_;
  std::unordered_map<data::ItemId, std::int64_t> rows_;
  model::Histories histories_;
  std::vector<std::int64_t> pair_history_, pair_item_;
};

metrics::MeanImpressionMetrics evaluate_pairs(model::RankingModel& model, const data::Dataset& dataset,
                                              std::span<const std::uint32_t> impressions,
                                              std::size_t max_history, EachImpression* each, TestBar bar) {
  bar.begin(impressions.size(), "impressions");
  std::vector<float> scores;
  std::vector<std::size_t> first_score;
  std::size_t pairs = 0;
  PairChunk chunk;
  for (const std::uint32_t index : impressions) {
    const data::Impression impression = dataset.impression(index);
    first_score.push_back(pairs);
    pairs += impression.shown.size();
    chunk.add(impression, max_history);
    bar.advance(1);
    if (chunk.pairs() < pairs_at_once) continue;
    if (interrupted()) return {};
    chunk.score(model, scores);
    chunk = {};
  }
  if (chunk.pairs() > 0) chunk.score(model, scores);
  return evaluate_impressions(
      dataset, impressions,
      [&](std::size_t position, const data::Impression&, std::span<float> out) {
        std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(first_score[position]), out.size(),
                    out.begin());
      },
      each);
}

}  // namespace

namespace {

metrics::MeanImpressionMetrics evaluate_own(model::RankingModel& model, const data::Dataset& dataset,
                                            std::span<const std::uint32_t> impressions,
                                            std::size_t max_history, EachImpression* each, const char* bar) {
  if (auto* towers = dynamic_cast<model::NewsRecommender*>(&model))
    return evaluate_towers(*towers, dataset, impressions, max_history, each, TestBar(bar));
  return evaluate_pairs(model, dataset, impressions, max_history, each, TestBar(bar));
}

// Every process has judged its share of so many impressions: the mean over all, as one process adds them.
metrics::MeanImpressionMetrics brought_together(const fl::ProcessGroup& group, const EachImpression& own,
                                                std::size_t count, EachImpression* each) {
  constexpr std::size_t numbers = 5;  // whether there is an order to judge, and four metrics
  std::vector<double> flat(numbers * count, 0.0);
  auto* next = flat.data() + numbers * group.part_of(count).begin;
  for (const auto& one : own) {
    if (one) {
      const double row[] = {1, one->auc, one->mrr, one->ndcg5, one->ndcg10};
      std::copy_n(row, numbers, next);
    }
    next += numbers;
  }
  group.add(std::span<double>(flat));
  EachImpression all(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = flat.data() + numbers * i;
    if (row[0] != 0) all[i] = metrics::ImpressionMetrics{row[1], row[2], row[3], row[4]};
  }
  const auto sum = metrics::sum_in_chunks<metrics::ImpressionMetricsSum>(
      count, [&](std::size_t begin, std::size_t end, metrics::ImpressionMetricsSum& part) {
        for (std::size_t i = begin; i < end; ++i) part.add(all[i]);
      });
  if (each) *each = std::move(all);
  return sum.mean();
}

metrics::MeanImpressionMetrics evaluate(model::RankingModel& model, const data::Dataset& dataset,
                                        std::span<const std::uint32_t> impressions, std::size_t max_history,
                                        EachImpression* each, const char* bar) {
  torch::NoGradGuard no_grad;
  const fl::ProcessGroup& group = fl::processes();
  if (group.size() == 1) return evaluate_own(model, dataset, impressions, max_history, each, bar);
  EachImpression own;
  evaluate_own(model, dataset, group.share_of(impressions), max_history, &own, bar);
  if (group.any(interrupted())) return {};
  return brought_together(group, own, impressions.size(), each);
}

}  // namespace

metrics::MeanImpressionMetrics evaluate_each(model::RankingModel& model, const data::Dataset& dataset,
                                             std::span<const std::uint32_t> impressions,
                                             std::size_t max_history, EachImpression* each) {
  return evaluate(model, dataset, impressions, max_history, each, "testing");
}

metrics::MeanImpressionMetrics evaluate_with_progress(model::RankingModel& model,
                                                      const data::Dataset& dataset,
                                                      std::span<const std::uint32_t> impressions,
                                                      std::size_t max_history) {
  return evaluate(model, dataset, impressions, max_history, nullptr, "testing");
}

metrics::MeanImpressionMetrics evaluate_recommender(model::RankingModel& model, const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    std::size_t max_history) {
  return evaluate(model, dataset, impressions, max_history, nullptr, "validating");
}

Result<metrics::MeanImpressionMetrics> evaluate_served(
    model::RankingModel& model, const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
    std::size_t max_history, const recipes::PrototypeQuery& query, std::uint64_t seed) {
  if (query.prototypes < 2)
    return bad_input("a server cannot rank by prototypes without any: set prototypes to at least 2");
  auto* towers = publish::shared_towers(model);
  if (!towers) return bad_input("this model has no vectors of readers, which private serving needs");
  const torch::NoGradGuard no_grad;
  Progress progress("testing private answers", 4, "steps");
  const auto step_done = [&]() -> Status {
    progress.advance();
    if (interrupted()) return failed("stopped while private answers were tested");
    return {};
  };
  SOTTO_TRY(const publish::Rows items, publish::encode_catalogue(*towers, dataset.item_count()));
  SOTTO_CHECK(step_done());
  SOTTO_TRY(
      publish::Codebook book,
      publish::served_codebook(*towers, items, publish::demand_of_items(items, {}, publish::codebook_seed),
                               {.prototypes = query.prototypes, .max_history = max_history}));
  SOTTO_CHECK(step_done());
  const auto vectors = std::make_shared<const privacy::PublicVectors>(
      privacy::PublicVectors{.dimension = items.width,
                             .prototypes = std::move(book.prototypes.values),
                             .average_user = std::move(book.average_user)});
  const privacy::ServingMechanisms table = privacy::serving_mechanisms();
  SOTTO_TRY(const auto* entry, privacy::find_mechanism(table, "prototypes"));
  privacy::MechanismSettings settings;
  settings.epsilon = query.epsilon;
  SOTTO_TRY(const auto mechanism, entry->make(settings, vectors));

  std::vector<std::span<const data::ItemId>> histories;
  std::vector<data::UserId> readers;
  for (const std::uint32_t index : impressions) {
    histories.push_back(dataset.impression(index).history);
    readers.push_back(dataset.impression(index).user);
  }
  SOTTO_TRY(const publish::Rows users,
            publish::encode_histories(*towers, items, max_history, histories, readers));
  SOTTO_CHECK(step_done());
  SOTTO_TRY(const publish::Rows served, served_vectors(table, *mechanism, *vectors, users, seed));
  SOTTO_CHECK(step_done());
  return evaluate_impressions(dataset, impressions, items.values, served.values, served.width);
}

}  // namespace sotto::eval
