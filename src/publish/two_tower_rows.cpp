#include "publish/two_tower_rows.h"

#include <algorithm>
#include <numeric>

#include "base/interrupt.h"
#include "base/progress.h"
#include "model/news/items_at_once.h"

namespace sotto::publish {

using torch::Tensor;

namespace {

constexpr std::size_t users_at_once = 512;  // bounds the memory of activations

void append(Rows& rows, const Tensor& tensor) {
  const Tensor values = tensor.to(torch::kCPU, torch::kFloat32).contiguous();
  rows.width = static_cast<std::size_t>(values.size(1));
  rows.values.insert(rows.values.end(), values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
}

Tensor as_tensor(const Rows& rows) {
  return torch::tensor(at::ArrayRef<float>(rows.values.data(), rows.values.size()))
      .view({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.width)});
}

}  // namespace

Result<Rows> encode_catalogue(model::NewsRecommender& model, std::size_t count) {
  std::vector<data::ItemId> items(count);
  std::iota(items.begin(), items.end(), data::ItemId{0});
  Rows rows;
  Progress progress("encoding items", count, "items");
  const std::size_t at_once = model::items_at_once(model);
  for (std::size_t first = 0; first < count; first += at_once) {
    if (interrupted()) return failed("stopped after {} of {} items were encoded", first, count);
    progress.set(first);
    model::Pass pass = model::Pass::evaluation();
    append(rows, model.encode_items(std::span(items).subspan(first, std::min(at_once, count - first)), pass));
  }
  progress.set(count);
  return rows;
}

Result<Rows> encode_histories(model::NewsRecommender& model, const Rows& items, std::size_t max_history,
                              const std::vector<std::span<const data::ItemId>>& histories,
                              const std::vector<data::UserId>& users) {
  const Tensor table = as_tensor(items).to(model.parameters().front().device());
  Rows rows;
  Progress progress("encoding readers", histories.size(), "readers");
  for (std::size_t first = 0; first < histories.size(); first += users_at_once) {
    if (interrupted()) return failed("stopped after {} of {} readers were encoded", first, histories.size());
    progress.set(first);
    model::Histories batch;
    for (std::size_t i = first; i < std::min(histories.size(), first + users_at_once); ++i) {
      const auto clicks = histories[i].last(std::min(histories[i].size(), max_history));
      batch.add(std::vector<std::int64_t>(clicks.begin(), clicks.end()), users[i]);
    }
    model::Pass pass = model::Pass::evaluation();
    append(rows, model.encode_users(table, batch, pass));
  }
  progress.set(histories.size());
  return rows;
}

Result<Rows> simulated_reader_vectors(model::NewsRecommender& model, const Rows& items, const Demand& demand,
                                      std::size_t max_history, const ReaderSettings& settings,
                                      std::uint64_t seed) {
  const auto histories = simulate_histories(demand, settings, seed);
  return encode_histories(model, items, max_history, {histories.begin(), histories.end()},
                          std::vector<data::UserId>(histories.size(), model::unknown_user));
}

}  // namespace sotto::publish
