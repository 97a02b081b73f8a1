#include "eval/experiments/serving/serving_scene.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "eval/training_run.h"
#include "publish/rows.h"
#include "publish/two_tower_rows.h"

namespace sotto::eval::private_serving {

namespace {

std::vector<std::uint32_t> spread(std::span<const std::uint32_t> impressions, std::size_t wanted) {
  std::vector<std::uint32_t> chosen;
  const std::size_t count = std::min(wanted, impressions.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(impressions[i * impressions.size() / count]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

Result<ServingScene> scene_of(model::NewsRecommender& model, const data::Dataset& dataset,
                              std::span<const std::uint32_t> test, std::size_t max_history,
                              const SceneSettings& settings, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  ServingScene scene;
  SOTTO_TRY(scene.items, encode_catalogue(model, dataset.item_count()));
  scene.impressions = spread(test, static_cast<std::size_t>(settings.impressions));
  std::vector<std::span<const data::ItemId>> histories;
  std::vector<data::UserId> users;
  for (const std::uint32_t index : scene.impressions) {
    histories.push_back(dataset.impression(index).history);
    users.push_back(dataset.impression(index).user);
  }
  SOTTO_TRY(scene.users, encode_histories(model, scene.items, max_history, histories, users));

  Demand demand;
  if (settings.readers.demand_epsilon > 0) {
    // A simulation like the rest of an experiment: nothing of it is served.
    SOTTO_TRY(demand, release_demand(dataset, scene.items, settings.readers, seed,
                                     privacy::NoiseOrigin::reproducible(seed)));
  } else {
    demand = demand_of_items(scene.items, settings.readers, seed);
  }
  SOTTO_TRY(scene.readers,
            simulated_reader_vectors(model, scene.items, demand, max_history, settings.readers, seed));
  return scene;
}

Result<ServingScene> load_scene(const fs::path& run, const data::Dataset& dataset,
                                const SceneSettings& settings, std::uint64_t seed) {
  ServingScene scene;
  Status status = bad_input(
      "{} was not trained on impressions: private serving needs vectors of items "
      "and readers, as 'fedrec' or 'central --set model=nrms' learn them",
      run.string());
  const recipes::Evaluate look = [&](model::RankingModel& model, const data::Dataset& data,
                                     std::span<const std::uint32_t> impressions, std::size_t max_history) {
    if (auto* towers = dynamic_cast<model::NewsRecommender*>(&model)) {
      auto seen = scene_of(*towers, data, impressions, max_history, settings, seed);
      status = seen ? Status() : tl::unexpected(std::move(seen).error());
      if (status) scene = std::move(*seen);
    }
    return metrics::MeanImpressionMetrics{};
  };
  if (auto seen = evaluate_run({.run = run, .evaluate = look}, dataset); !seen)
    return tl::unexpected(std::move(seen).error());
  SOTTO_CHECK(status);
  if (scene.impressions.empty()) return bad_input("{} has no test impressions", dataset.name());
  return scene;
}

namespace {

Rows part_of(const Rows& rows, std::size_t first, std::size_t last) {
  Rows part(last - first, rows.width);
  std::copy_n(rows.values.begin() + static_cast<std::ptrdiff_t>(first * rows.width), part.values.size(),
              part.values.begin());
  return part;
}

// Of what the true vector would gain. An answer from which less is expected is not believed: AUC hardly
// moves, and wrong answers take more from the top of a list than true ones bring.
constexpr double least_share = 0.05;

}  // namespace

Result<PublicKnowledge> PublicKnowledge::of(const ServingScene& scene) {
  SOTTO_TRY(auto space, RankingSpace::of_items(scene.items));
  const Rows readers = space.readers(scene.readers);
  const std::size_t count = readers.size(), held_out = count / 4;
  if (held_out < 1) return bad_input("{} simulated readers are too few: ask for at least 4", count);
  Rows building = part_of(readers, held_out, count);
  std::vector<float> average = mean_row(building);
  return PublicKnowledge{std::move(space),
                         scene.items,
                         std::move(building),
                         part_of(scene.readers, held_out, count),
                         std::move(average),
                         part_of(readers, 0, held_out),
                         part_of(scene.readers, 0, held_out)};
}

double expected_auc(double correlation) {
  // Clicks tilt the density of scores by exp(strength · score): a clicked item's score is N(strength, 1).
  constexpr double strength = 1.5;
  return 0.5 * std::erfc(-strength * correlation / 2);  // Φ(strength·ρ/√2)
}

Rows mixed_with_average(Rows answers, std::span<const float> average, double weight) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto row = answers[i];
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] = static_cast<float>(average[j] + weight * (static_cast<double>(row[j]) - average[j]));
  }
  return answers;
}

Result<double> best_weight(const PublicKnowledge& known,
                           const std::function<Result<Rows>(const Rows& user_vectors, const Rows& readers,
                                                            std::uint64_t seed)>& answer,
                           std::uint64_t seed) {
  SOTTO_TRY(const Rows answers, answer(known.held_out_vectors, known.held_out, seed));
  constexpr std::array weights = {0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0};
  std::vector<double> without_answer;
  double possible = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    without_answer.push_back(expected_auc(cosine(known.average, known.held_out[i])));
    possible += (expected_auc(1) - without_answer.back()) / static_cast<double>(answers.size());
  }
  double best = 0, best_gain = least_share * possible;
  for (const double weight : weights) {
    const Rows mixed = mixed_with_average(answers, known.average, weight);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      const double gain = expected_auc(cosine(mixed[i], known.held_out[i])) - without_answer[i];
      sum += gain;
      squares += gain * gain;
    }
    const auto count = static_cast<double>(mixed.size());
    const double gain = sum / count, error = std::sqrt(std::max(0.0, squares / count - gain * gain) / count);
    // What could be chance is not believed: there the average user is the safe answer.
    if (gain > best_gain && gain > 2 * error) best = weight, best_gain = gain;
  }
  return best;
}

}  // namespace sotto::eval::private_serving
