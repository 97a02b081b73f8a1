#include "eval/interaction_evaluator.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/interrupt.h"
#include "base/progress.h"
#include "fl/process_group.h"
#include "metrics/mean.h"

namespace sotto::eval {

namespace {

class Ranking {
 public:
  Ranking(const data::Dataset& dataset, const fl::InteractionData& data)
      : dataset_(dataset), data_(data), users_(data.test.size()) {}

  void take(std::size_t test_user, std::span<const std::uint64_t> rows, const float* scores) {
    const data::Interactions& log = dataset_.interactions();
    const data::UserId user = data_.test[test_user].support.user;
    touched_.assign(dataset_.item_count(), 0);
    for (std::uint64_t row = log.user_offsets[user]; row < log.user_offsets[user + std::size_t{1}]; ++row)
      touched_[log.items[row]] = 1;
    held_out_.clear();
    for (const std::uint64_t row : rows) held_out_.push_back(log.items[row]);
    const metrics::HeldOutMetrics part =
        metrics::held_out_metrics({scores, dataset_.item_count()}, touched_, held_out_);
    if (data_.given_split) take_list(test_user, scores);
    // A user's rows may come in several situations: weighted by their number.
    const double share =
        static_cast<double>(rows.size()) / static_cast<double>(data_.test[test_user].query.size());
    for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
      users_[test_user].hits[c] += share * part.hits[c];
      users_[test_user].ndcg[c] += share * part.ndcg[c];
    }
  }

  // From the test users of one process to all of them.
  void bring_together() {
    const fl::ProcessGroup& group = fl::processes();
    constexpr std::size_t cutoffs = std::size(metrics::HeldOutMetrics::cutoffs);
    std::vector<double> flat;
    for (const metrics::HeldOutMetrics& user : users_) {
      flat.insert(flat.end(), std::begin(user.hits), std::end(user.hits));
      flat.insert(flat.end(), std::begin(user.ndcg), std::end(user.ndcg));
    }
    group.add(std::span<double>(flat));
    for (std::size_t user = 0; user < users_.size(); ++user) {
      const auto first = flat.begin() + static_cast<std::ptrdiff_t>(2 * cutoffs * user);
      std::copy_n(first, cutoffs, std::begin(users_[user].hits));
      std::copy_n(first + cutoffs, cutoffs, std::begin(users_[user].ndcg));
    }
    if (!data_.given_split) return;
    recall_.resize(users_.size());
    ndcg_.resize(users_.size());
    group.add(std::span<double>(recall_));
    group.add(std::span<double>(ndcg_));
  }

  metrics::HeldOutMetrics mean_of(std::span<const std::size_t> users) const {
    metrics::HeldOutMetricsSum sum;
    for (const std::size_t user : users) sum.add(users_[user]);
    return sum.mean();
  }

  const std::vector<metrics::HeldOutMetrics>& users() const { return users_; }

  // Nothing where the data gives no split of its own.
  std::optional<metrics::TopListMetrics> mean_list() const { return lists_of(&metrics::MeanAndError::mean); }
  std::optional<metrics::TopListMetrics> list_error() const {
    return lists_of(&metrics::MeanAndError::error);
  }

 private:
  // Of all items that the user's training rows do not name.
  void take_list(std::size_t test_user, const float* scores) {
    const data::ItemId* items = dataset_.interactions().items.data();
    std::vector<std::uint8_t> known(dataset_.item_count(), 0);
    const fl::UserRows& support = data_.test[test_user].support;
    for (const auto* rows : {&support.positive, &support.negative})
      for (const std::uint64_t row : *rows) known[items[row]] = 1;
    std::vector<data::ItemId> wanted = held_out_;
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const auto list = metrics::top_list_metrics({scores, dataset_.item_count()}, known, wanted);
    recall_.resize(users_.size());
    ndcg_.resize(users_.size());
    recall_[test_user] = list.recall;
    ndcg_[test_user] = list.ndcg;
  }
  std::optional<metrics::TopListMetrics> lists_of(double metrics::MeanAndError::*part) const {
    if (!data_.given_split) return std::nullopt;
    return metrics::TopListMetrics{metrics::mean_and_error(recall_).*part,
                                   metrics::mean_and_error(ndcg_).*part};
  }

  const data::Dataset& dataset_;
  const fl::InteractionData& data_;
  std::vector<metrics::HeldOutMetrics> users_;
  std::vector<std::uint8_t> touched_;
  std::vector<data::ItemId> held_out_;
  std::vector<double> recall_, ndcg_;  // by test user, where the data gives its own split
};

// Items on the user's device come first; among them, and behind them, the most popular.
void put_own_first(const data::Dataset& dataset, const fl::UserRows& support, std::vector<float>& scores) {
  const float above_all = 1 + *std::max_element(scores.begin(), scores.end());
  std::vector<std::uint8_t> own(scores.size(), 0);
  for (const std::uint64_t row : support.positive) own[dataset.interactions().items[row]] = 1;
  for (std::size_t item = 0; item < scores.size(); ++item)
    if (own[item] != 0) scores[item] += above_all;
}

}  // namespace

metrics::HeldOutReport evaluate_interactions(const data::Dataset& dataset, const fl::InteractionData& data,
                                             const recipes::ScoreTestUsers& score) {
  metrics::HeldOutReport report;
  report.users = data.test.size();
  report.left_out = data.untested;
  for (const auto& user : data.test) report.rows += user.query.size();

  std::vector<std::size_t> users(data.test.size());
  std::iota(users.begin(), users.end(), std::size_t{0});
  Ranking model(dataset, data), popular(dataset, data), own_first(dataset, data), random(dataset, data);
  {
    Progress progress("testing", report.rows, "rows");
    score([&](std::size_t user, std::span<const std::uint64_t> rows, const float* scores) {
      model.take(user, rows, scores);
      progress.advance(rows.size());
    });
  }
  if (fl::processes().any(interrupted())) return report;
  const auto own = fl::processes().share_of(std::span<const std::size_t>(users));
  Progress progress("rankings without a model", own.size(), "users");
  const std::vector<float> popularity = fl::training_popularity(dataset, data);
  const std::vector<float> all_tied(dataset.item_count(), 0.0F);
  for (const std::size_t user : own) {
    if (interrupted()) break;
    progress.advance();
    random.take(user, data.test[user].query, all_tied.data());
    popular.take(user, data.test[user].query, popularity.data());
    std::vector<float> scores = popularity;
    put_own_first(dataset, data.test[user].support, scores);
    own_first.take(user, data.test[user].query, scores.data());
  }
  if (fl::processes().any(interrupted())) return report;
  progress.finish();
  for (Ranking* ranking : {&model, &popular, &own_first, &random}) ranking->bring_together();
  report.mean = model.mean_of(users);
  report.each = model.users();
  report.lists = model.mean_list();
  report.lists_error = model.list_error();
  report.beside = {{"popularity", popular.mean_of(users), popular.mean_list()},
                   {"own items, then popularity", own_first.mean_of(users), own_first.mean_list()},
                   {"random order", random.mean_of(users), random.mean_list()}};

  std::stable_sort(users.begin(), users.end(), [&](std::size_t a, std::size_t b) {
    return data.test[a].support.positive.size() < data.test[b].support.positive.size();
  });
  for (std::size_t part = 0; part < report.by_activity.size(); ++part) {
    const std::size_t begin = part * users.size() / report.by_activity.size(),
                      end = (part + 1) * users.size() / report.by_activity.size();
    report.by_activity[part] = model.mean_of(std::span(users).subspan(begin, end - begin));
  }
  return report;
}

}  // namespace sotto::eval
