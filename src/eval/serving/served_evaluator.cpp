#include "eval/serving/served_evaluator.h"

#include "eval/impression_evaluator.h"
#include "eval/serving/compared_mechanism.h"
#include "model/news/news_recommender.h"

namespace sotto {

Result<MeanImpressionMetrics> evaluate_served(RankingModel& model, const Dataset& dataset,
                                              std::span<const std::uint32_t> impressions,
                                              std::size_t max_history, const PrototypeQuery& query,
                                              std::uint64_t seed) {
  if (query.prototypes < 2)
    return bad_input("a server cannot rank by prototypes without any: set prototypes to at least 2");
  auto* towers = dynamic_cast<NewsRecommender*>(&model);
  if (!towers) return bad_input("this model has no vectors of readers, which private serving needs");
  private_serving::SceneSettings settings;
  settings.impressions = static_cast<std::int64_t>(impressions.size());
  settings.readers.demand_epsilon = 0;
  settings.readers.max_history = static_cast<std::int64_t>(max_history);
  SOTTO_TRY(const auto scene,
            private_serving::scene_of(*towers, dataset, impressions, max_history, settings, seed));
  SOTTO_TRY(const auto known, private_serving::PublicKnowledge::of(scene));
  SOTTO_TRY(const auto mechanism, private_serving::make_mechanism(
                                      {"prototypes-response", query.prototypes, query.epsilon}, known, seed));
  SOTTO_TRY(const auto served, mechanism->serve(scene.users, known.space.readers(scene.users), seed));
  return evaluate_impressions(dataset, scene.impressions, known.space.items().values, served.values,
                              served.width);
}

}  // namespace sotto
