#include "eval/experiments/serving/serving_scene.h"

#include <algorithm>
#include <numeric>

#include "eval/experiments/serving/k_means.h"
#include "eval/training_run.h"
#include "model/news_recommender.h"

namespace sotto::private_serving {

using torch::Tensor;

namespace {

// Bound the memory of activations.
constexpr std::size_t items_at_once = 2048, users_at_once = 512;
constexpr int grouping_iterations = 15;

void append(Rows& rows, const Tensor& tensor) {
  const Tensor values = tensor.to(torch::kCPU, torch::kFloat32).contiguous();
  rows.width = static_cast<std::size_t>(values.size(1));
  rows.values.insert(rows.values.end(), values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
}

Rows encode_catalogue(NewsRecommender& model, std::size_t count) {
  std::vector<ItemId> items(count);
  std::iota(items.begin(), items.end(), ItemId{0});
  Rows rows;
  for (std::size_t first = 0; first < count; first += items_at_once) {
    Pass pass = Pass::evaluation();
    append(rows,
           model.encode_items(std::span(items).subspan(first, std::min(items_at_once, count - first)), pass));
  }
  return rows;
}

// The newest `max_history` clicks of every history.
Rows encode_histories(NewsRecommender& model, Rows& items, std::size_t max_history,
                      const std::vector<std::span<const ItemId>>& histories,
                      const std::vector<UserId>& users) {
  const Tensor table =
      torch::from_blob(items.values.data(),
                       {static_cast<std::int64_t>(items.size()), static_cast<std::int64_t>(items.width)},
                       torch::kFloat32)
          .to(model.parameters().front().device());
  Rows rows;
  for (std::size_t first = 0; first < histories.size(); first += users_at_once) {
    Histories batch;
    for (std::size_t i = first; i < std::min(histories.size(), first + users_at_once); ++i) {
      const auto clicks = histories[i].last(std::min(histories[i].size(), max_history));
      batch.add(std::vector<std::int64_t>(clicks.begin(), clicks.end()), users[i]);
    }
    Pass pass = Pass::evaluation();
    append(rows, model.encode_users(table, batch, pass));
  }
  return rows;
}

std::vector<std::uint32_t> spread(std::span<const std::uint32_t> impressions, std::size_t wanted) {
  std::vector<std::uint32_t> chosen;
  const std::size_t count = std::min(wanted, impressions.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(impressions[i * impressions.size() / count]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Status fill(ServingScene& scene, NewsRecommender& model, const Dataset& dataset,
            std::span<const std::uint32_t> test, std::size_t max_history, const SceneSettings& settings,
            std::uint64_t seed) {
  scene.items = encode_catalogue(model, dataset.item_count());
  scene.impressions = spread(test, static_cast<std::size_t>(settings.impressions));
  std::vector<std::span<const ItemId>> histories;
  std::vector<UserId> users;
  for (const std::uint32_t index : scene.impressions) {
    histories.push_back(dataset.impression(index).history);
    users.push_back(dataset.impression(index).user);
  }
  scene.users = encode_histories(model, scene.items, max_history, histories, users);

  const Clusters groups = k_means(scene.items, static_cast<std::size_t>(settings.readers.groups),
                                  ClusterShape::distance, grouping_iterations, seed);
  SOTTO_TRY(const auto demand, release_demand(dataset, groups.assignment, groups.centres.size(),
                                              settings.readers.demand_epsilon, seed));
  const auto simulated = simulate_histories(groups.assignment, demand, settings.readers, seed);
  histories.assign(simulated.begin(), simulated.end());
  users.assign(simulated.size(), unknown_user);
  scene.readers = encode_histories(model, scene.items, max_history, histories, users);
  return {};
}

}  // namespace

Result<ServingScene> load_scene(const fs::path& run, const Dataset& dataset, const SceneSettings& settings,
                                std::uint64_t seed) {
  ServingScene scene;
  Status status = bad_input(
      "{} was not trained on impressions: private serving needs vectors of items "
      "and readers, as 'fedrec' or 'central-nrms' learn them",
      run.string());
  const Evaluate look = [&](RankingModel& model, const Dataset& data,
                            std::span<const std::uint32_t> impressions, std::size_t max_history) {
    torch::NoGradGuard no_grad;
    if (auto* towers = dynamic_cast<NewsRecommender*>(&model))
      status = fill(scene, *towers, data, impressions, max_history, settings, seed);
    return MeanImpressionMetrics{};
  };
  if (auto seen = evaluate_run(run, dataset, look); !seen) return tl::unexpected(std::move(seen).error());
  SOTTO_CHECK(status);
  if (scene.impressions.empty()) return bad_input("{} has no test impressions", dataset.name());
  return scene;
}

}  // namespace sotto::private_serving
