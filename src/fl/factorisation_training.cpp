#include "fl/factorisation_training.h"

#include <algorithm>

#include "model/news/news_recommender.h"
#include "model/tensor.h"

namespace sotto {

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

Tensor FactorModel::scores(const ScoreRequest& request, Pass&) {
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
  return dot_pairs(solve_users(factors, readers, settings_), request.pair_history, factors, items);
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
    const Tensor mine = factors.index_select(0, index_tensor(own, factors.device()));
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

void score_test_users(const Dataset& dataset, const InteractionData& data, const FactorModel& model,
                      const TakeScores& take) {
  torch::NoGradGuard no_grad;
  for (std::size_t user = 0; user < data.test.size(); ++user) {
    const OwnItems support = own_items(dataset, data.test[user].support.positive);
    const Tensor own = solve_users(model.factors, {&support, 1}, model.settings());
    const Tensor scores = torch::mm(own, model.factors.t()).to(torch::kCPU).contiguous();
    take(user, data.test[user].query, scores.data_ptr<float>());
  }
}

}  // namespace sotto
