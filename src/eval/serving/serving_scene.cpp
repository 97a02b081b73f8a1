#include "eval/serving/serving_scene.h"

#include <algorithm>

#include "eval/training_run.h"
#include "publish/two_tower_rows.h"

namespace sotto::private_serving {

namespace {

std::vector<std::uint32_t> spread(std::span<const std::uint32_t> impressions, std::size_t wanted) {
  std::vector<std::uint32_t> chosen;
  const std::size_t count = std::min(wanted, impressions.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(impressions[i * impressions.size() / count]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

Result<ServingScene> scene_of(NewsRecommender& model, const Dataset& dataset,
                              std::span<const std::uint32_t> test, std::size_t max_history,
                              const SceneSettings& settings, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  ServingScene scene;
  scene.items = encode_catalogue(model, dataset.item_count());
  scene.impressions = spread(test, static_cast<std::size_t>(settings.impressions));
  std::vector<std::span<const ItemId>> histories;
  std::vector<UserId> users;
  for (const std::uint32_t index : scene.impressions) {
    histories.push_back(dataset.impression(index).history);
    users.push_back(dataset.impression(index).user);
  }
  scene.users = encode_histories(model, scene.items, max_history, histories, users);

  SOTTO_TRY(scene.readers,
            simulated_reader_vectors(model, scene.items, dataset, max_history, settings.readers, seed));
  return scene;
}

Result<ServingScene> load_scene(const fs::path& run, const Dataset& dataset, const SceneSettings& settings,
                                std::uint64_t seed) {
  ServingScene scene;
  Status status = bad_input(
      "{} was not trained on impressions: private serving needs vectors of items "
      "and readers, as 'fedrec' or 'central --set model=nrms' learn them",
      run.string());
  const Evaluate look = [&](RankingModel& model, const Dataset& data,
                            std::span<const std::uint32_t> impressions, std::size_t max_history) {
    if (auto* towers = dynamic_cast<NewsRecommender*>(&model)) {
      auto seen = scene_of(*towers, data, impressions, max_history, settings, seed);
      status = seen ? Status() : tl::unexpected(std::move(seen).error());
      if (status) scene = std::move(*seen);
    }
    return MeanImpressionMetrics{};
  };
  if (auto seen = evaluate_run(run, dataset, look); !seen) return tl::unexpected(std::move(seen).error());
  SOTTO_CHECK(status);
  if (scene.impressions.empty()) return bad_input("{} has no test impressions", dataset.name());
  return scene;
}

}  // namespace sotto::private_serving
