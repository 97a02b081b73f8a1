#include "model/news/ranking_model.h"

#include <algorithm>
#include <numeric>

namespace sotto::model {

using torch::Tensor;

void Histories::add(std::span<const std::int64_t> history, data::UserId user) {
  rows.insert(rows.end(), history.begin(), history.end());
  offsets.push_back(static_cast<std::int64_t>(rows.size()));
  users.push_back(user);
}

RaggedRows clicks_of(const Tensor& item_vectors, const Histories& histories, const Pass& pass) {
  // Row M of the table is the blank item.
  const std::int64_t blank = item_vectors.size(0);
  const Tensor table =
      torch::cat({item_vectors, torch::zeros({1, item_vectors.size(1)}, item_vectors.options())});
  std::vector<std::int64_t> rows, offsets = {0};
  for (std::size_t u = 0; u < histories.size(); ++u) {
    rows.insert(rows.end(), histories.rows.begin() + histories.offsets[u],
                histories.rows.begin() + histories.offsets[u + 1]);
    if (histories.offsets[u] == histories.offsets[u + 1]) rows.push_back(blank);
    offsets.push_back(static_cast<std::int64_t>(rows.size()));
  }
  return {gather_rows(table, std::move(rows)), Segments(std::move(offsets), pass.history_owners())};
}

using torch::Tensor;

namespace {

constexpr std::int64_t no_row = -1;

}  // namespace

RankingBatch::RankingBatch(std::size_t candidates, std::size_t max_history)
    : candidates_(candidates), max_history_(max_history) {}

std::int64_t RankingBatch::row_of(data::ItemId item) {
  if (item >= row_by_item_.size())
    row_by_item_.resize(std::max<std::size_t>(item + 1, 2 * row_by_item_.size()), no_row);
  if (row_by_item_[item] == no_row) {
    row_by_item_[item] = static_cast<std::int64_t>(items_.size());
    items_.push_back(item);
  }
  return row_by_item_[item];
}

std::int64_t RankingBatch::history_number(std::span<const data::ItemId> recent, data::UserId user) {
  auto& same_end = known_histories_[recent.data() + recent.size()];
  for (const KnownHistory& known : same_end)
    if (known.length == recent.size() && known.user == user) return known.number;
  std::vector<std::int64_t> rows;
  rows.reserve(recent.size());
  for (const data::ItemId item : recent) rows.push_back(row_of(item));
  const auto number = static_cast<std::int64_t>(histories_.size());
  histories_.add(rows, user);
  same_end.push_back({recent.size(), user, number});
  return number;
}

void RankingBatch::add(std::span<const data::ItemId> history, std::span<const data::ItemId> candidates,
                       float weight, data::UserId user) {
  TORCH_CHECK(candidates.size() == candidates_,
              "a sample needs one click and the agreed number of non-clicks");
  const std::int64_t number = history_number(history.last(std::min(history.size(), max_history_)), user);
  for (const data::ItemId item : candidates) {
    pair_history_.push_back(number);
    pair_item_.push_back(row_of(item));
  }
  weights_.push_back(weight);
}

void RankingBatch::begin_user(std::uint64_t dropout_seed) {
  const auto first = item_starts_.empty() ? 0 : static_cast<std::size_t>(item_starts_.back());
  for (const data::ItemId item : std::span(items_).subspan(first)) row_by_item_[item] = no_row;
  item_starts_.push_back(static_cast<std::int64_t>(items_.size()));
  history_starts_.push_back(static_cast<std::int64_t>(histories_.size()));
  sample_starts_.push_back(static_cast<std::int64_t>(samples()));
  dropout_seeds_.push_back(dropout_seed);
  known_histories_.clear();
}

UserBatch RankingBatch::users(UserParameters& parameters) const {
  const auto owners = [&](std::vector<std::int64_t> starts, std::size_t end) {
    starts.push_back(static_cast<std::int64_t>(end));
    return c10::make_intrusive<RowOwners>(parameters, std::move(starts));
  };
  return {owners(item_starts_, items_.size()), owners(history_starts_, histories_.size()), dropout_seeds_};
}

std::vector<std::uint64_t> RankingBatch::samples_by_user() const {
  std::vector<std::uint64_t> counts;
  for (std::size_t user = 0; user < sample_starts_.size(); ++user)
    counts.push_back((user + 1 < sample_starts_.size() ? static_cast<std::uint64_t>(sample_starts_[user + 1])
                                                       : samples()) -
                     static_cast<std::uint64_t>(sample_starts_[user]));
  return counts;
}

std::vector<double> RankingBatch::by_user(const Tensor& losses) const {
  const Tensor plain = losses.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const double* next = plain.data_ptr<double>();
  std::vector<double> sums;
  for (const std::uint64_t count : samples_by_user()) {
    sums.push_back(std::accumulate(next, next + count, 0.0));
    next += count;
  }
  return sums;
}

Tensor RankingBatch::losses(RankingModel& model, Pass& pass) const {
  TORCH_CHECK(samples() > 0, "an empty batch has no loss");
  return losses_of(model.scores(request(), pass));
}

Tensor RankingBatch::losses_of(const Tensor& scores) const {
  const Tensor log_click =
      scores.view({static_cast<std::int64_t>(samples()), -1}).log_softmax(1).select(1, 0);
  return -log_click * torch::tensor(weights_).to(log_click);
}

}  // namespace sotto::model
