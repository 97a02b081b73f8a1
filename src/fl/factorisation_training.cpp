#include "fl/factorisation_training.h"

#include <algorithm>

#include "base/interrupt.h"
#include "fl/process_group.h"
#include "model/news/news_recommender.h"
#include "model/tensor.h"

namespace sotto::fl {

const OwnItems& DevicePositives::of(data::UserId user) const {
  const auto position = std::lower_bound(users.begin(), users.end(), user) - users.begin();
  return items.at(static_cast<std::size_t>(position));
}

std::uint64_t DevicePositives::count() const {
  std::uint64_t total = 0;
  for (const OwnItems& own : items) total += own.size();
  return total;
}

OwnItems each_once(std::vector<std::int64_t> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

namespace {

// Collects the clicks of one user after the other. Most histories repeat those of earlier impressions, so
// items are marked rather than sorted out.
class TrainingClicks {
 public:
  explicit TrainingClicks(const data::Dataset& dataset)
      : dataset_(dataset), taken_(dataset.item_count(), 0) {}

  OwnItems of(data::UserId user) {
    OwnItems items;
    const auto take = [&](data::ItemId item) {
      if (taken_[item] == 0) items.push_back(item);
      taken_[item] = 1;
    };
    const auto [first, last] = dataset_.impressions_of(user);
    for (std::size_t index = first; index < last; ++index) {
      const data::Impression impression = dataset_.impression(index);
      if (impression.split != data::Split::train) continue;
      for (const data::ItemId item : impression.history) take(item);
      for (std::size_t position = 0; position < impression.shown.size(); ++position)
        if (impression.clicked[position] != 0) take(impression.shown[position]);
    }
    for (const std::int64_t item : items) taken_[static_cast<std::size_t>(item)] = 0;
    std::sort(items.begin(), items.end());
    return items;
  }

 private:
  const data::Dataset& dataset_;
  std::vector<std::uint8_t> taken_;  // 1 for items of the current user
};

}  // namespace

OwnItems own_items(const data::Dataset& dataset, const std::vector<std::uint64_t>& rows) {
  OwnItems items;
  for (const std::uint64_t row : rows) items.push_back(dataset.interactions().items[row]);
  return each_once(std::move(items));
}

DevicePositives positives_of(const data::Dataset& dataset, const InteractionData& data) {
  DevicePositives positives{data.users, {}};
  for (const UserRows& rows : data.rows) positives.items.push_back(own_items(dataset, rows.positive));
  return positives;
}

DevicePositives positives_of(const data::Dataset& dataset, std::span<const data::UserId> users) {
  DevicePositives positives{{users.begin(), users.end()}, {}};
  TrainingClicks clicks(dataset);
  for (const data::UserId user : users) positives.items.push_back(clicks.of(user));
  return positives;
}

using torch::Tensor;

void FactorisationSettings::bind(SettingsTable& table) {
  table.add("factors", factors, {1, 4096}, "Numbers per item and user")
      .add("confidence", confidence, {0.0, 1e6}, "How much more an own item counts than an unknown one")
      .add("regularisation", regularisation, {1e-9, 1e6}, "lambda, on item and user factors")
      .add("factor_scale", factor_scale, {1e-6, 10.0}, "Standard deviation that item factors start with");
}

FactorModel::FactorModel(std::int64_t items, const FactorisationSettings& settings)
    : factors(register_parameter("factors", torch::randn({items, settings.factors}) * settings.factor_scale)),
      settings_(settings) {}

Tensor FactorModel::scores(const model::ScoreRequest& request, model::Pass&) {
  const auto item_at = [&](std::int64_t row) -> std::int64_t {
    return request.items[static_cast<std::size_t>(row)];
  };
  std::vector<OwnItems> readers;
  for (std::size_t u = 0; u < request.histories.size(); ++u) {
    OwnItems clicks;
    for (std::int64_t k = request.histories.offsets[u]; k < request.histories.offsets[u + 1]; ++k)
      clicks.push_back(item_at(request.histories.rows[static_cast<std::size_t>(k)]));
    readers.push_back(each_once(std::move(clicks)));
  }
  std::vector<std::int64_t> items;
  for (const std::int64_t row : request.pair_item) items.push_back(item_at(row));
  return model::dot_pairs(solve_users(factors, readers, settings_), request.pair_history, factors, items);
}

// (YᵀY + confidence · Σ_own y yᵀ + λ) x = (1 + confidence) Σ_own y
Tensor solve_users(const Tensor& factors, std::span<const OwnItems> users,
                   const FactorisationSettings& settings) {
  torch::NoGradGuard no_grad;
  const std::int64_t size = factors.size(1);
  if (users.empty()) return torch::zeros({0, size}, factors.options());
  const Tensor shared =
      torch::mm(factors.t(), factors) + settings.regularisation * torch::eye(size, factors.options());
  std::vector<Tensor> systems, sides;
  for (const auto& own : users) {
    const Tensor mine = factors.index_select(0, model::index_tensor(own, factors.device()));
    systems.push_back(shared + settings.confidence * torch::mm(mine.t(), mine));
    sides.push_back((1 + settings.confidence) * mine.sum(0));
  }
  return torch::linalg_solve(torch::stack(systems), torch::stack(sides).unsqueeze(2)).squeeze(2);
}

namespace {

// Bounds the memory of a round: cells of a table of devices and items that are held at once.
constexpr std::int64_t cells_at_once = std::int64_t{1} << 25;

// [U, I]: 1 at the devices' items.
Tensor preferences(std::span<const OwnItems> users, const Tensor& factors) {
  Tensor own = torch::zeros({static_cast<std::int64_t>(users.size()), factors.size(0)}, torch::kFloat32);
  auto cells = own.accessor<float, 2>();
  for (std::size_t u = 0; u < users.size(); ++u)
    for (const std::int64_t item : users[u]) cells[static_cast<std::int64_t>(u)][item] = 1;
  return own.to(factors.device());
}

// Sums over the devices. ∂/∂y_i Σ_u c_ui (p_ui − x_u·y_i)² = 2 Σ_u c_ui (x_u·y_i − p_ui) x_u, with x_u held
// fixed.
FactorGradient summed_gradient(const Tensor& factors, std::span<const OwnItems> users,
                               const FactorisationSettings& settings) {
  const Tensor readers = solve_users(factors, users, settings), own = preferences(users, factors);
  const Tensor error = torch::mm(readers, factors.t()) - own;
  const Tensor weighted = error * (1 + settings.confidence * own);
  return {torch::mm(weighted.t(), readers) * 2, (weighted * error).sum().item<double>()};
}

}  // namespace

FactorGradient factor_gradient(const Tensor& factors, std::span<const OwnItems> users,
                               const FactorisationSettings& settings) {
  torch::NoGradGuard no_grad;
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(cells_at_once / factors.size(0), 1));
  FactorGradient mean{torch::zeros_like(factors), 0};
  for (std::size_t first = 0; first < users.size(); first += at_once) {
    const auto part =
        summed_gradient(factors, users.subspan(first, std::min(at_once, users.size() - first)), settings);
    mean.gradient += part.gradient;
    mean.loss += part.loss;
  }
  const double share = 1 / static_cast<double>(users.size());
  mean.gradient *= share;
  mean.loss *= share;
  return mean;
}

void score_test_users(const data::Dataset& dataset, const InteractionData& data, const FactorModel& model,
                      const TakeScores& take) {
  torch::NoGradGuard no_grad;
  const auto share = processes().part_of(data.test.size());
  for (std::size_t user = share.begin; user < share.end && !interrupted(); ++user) {
    const OwnItems support = own_items(dataset, data.test[user].support.positive);
    const Tensor own = solve_users(model.factors, {&support, 1}, model.settings());
    const Tensor scores = torch::mm(own, model.factors.t()).to(torch::kCPU).contiguous();
    take(user, data.test[user].query, scores.data_ptr<float>());
  }
}

}  // namespace sotto::fl
