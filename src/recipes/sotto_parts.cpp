#include "recipes/sotto_parts.h"

#include <algorithm>

#include "base/log.h"

namespace sotto {

void SottoSettings::bind(SettingsTable& table) {
  table.add("cohort", cohort, {0, 10'000'000}, "Readers per round; 0: half of them, at most 10,000")
      .add_choice("noise", noise, {"distributed", "none"},
                  "none: no clipping, no noise, no differential privacy")
      .add("serving_epsilon", serving_epsilon, {0.0, 1e6},
           "epsilon of one answer, for the whole history; 0: nothing is told, the device ranks by itself")
      .add("prototypes", prototypes, {0, 65536}, "Public prototypes of interest that an answer names one of");
  personal.bind(table);
}

std::int64_t SottoSettings::cohort_of(std::size_t readers) const {
  if (cohort > 0) return cohort;
  return std::min<std::int64_t>((static_cast<std::int64_t>(readers) + 1) / 2, 10'000);
}

Status SottoSettings::check(const PrivateTrainingSettings& training) const {
  if (noise == "none" && training.epsilon > 0)
    return bad_input("noise=none keeps no budget: leave out --epsilon, or noise=none");
  if (serving_epsilon > 0 && prototypes < 2)
    return bad_input(
        "private answers name one of the prototypes, and there are {}: set prototypes to at least 2, or "
        "serving_epsilon=0",
        prototypes);
  return {};
}

PrivacyDatasheet SottoSettings::beside(PrivacyDatasheet training) const {
  training.epsilon_query = serving_epsilon;
  training.mechanism +=
      serving_epsilon > 0
          ? fmt::format("; an answer names one of {} public prototypes, by k-ary randomised response",
                        prototypes)
          : "; nothing is told when recommending, the device ranks";
  training.server_sees.emplace_back(
      "no history and no personal vector: both are kept and used on the device alone");
  return training;
}

std::shared_ptr<RankingModel> with_personal_vectors(std::shared_ptr<RankingModel> model) {
  auto towers = std::dynamic_pointer_cast<NewsRecommender>(std::move(model));
  TORCH_CHECK(towers, "only a two-tower model has vectors of readers");
  return std::make_shared<PersonalModel>(std::move(towers));
}

Result<MeanImpressionMetrics> SottoSettings::measure_adapted(NewsRun& run, const RunRequest& request,
                                                             const TrainingDataSettings& data) const {
  SOTTO_CHECK(run.load_best());
  auto& model = dynamic_cast<PersonalModel&>(run.model());
  std::vector<UserId> readers;
  for (const std::uint32_t test : run.data().test) readers.push_back(request.dataset.impression(test).user);
  model.use(PersonalVectors::learn(model.shared(), request.dataset, std::move(readers),
                                   static_cast<std::size_t>(data.max_history), personal));
  return run.measure_test();
}

Status SottoSettings::measure(NewsRun& run, const RunRequest& request, const TrainingDataSettings& data,
                              TrainOutcome& outcome) const {
  if (outcome.summary.interrupted) return {};
  if (personal.steps > 0) {
    info("before adaptation: AUC {:.2f}", 100 * outcome.test.mean.auc);
    SOTTO_TRY(outcome.test, measure_adapted(run, request, data));
  }
  if (serving_epsilon == 0 || !request.evaluate_served) return {};
  SOTTO_TRY(outcome.served,
            request.evaluate_served(run.model(), request.dataset, run.data().test,
                                    static_cast<std::size_t>(data.max_history),
                                    {serving_epsilon, static_cast<std::size_t>(prototypes)}, request.seed));
  return {};
}

}  // namespace sotto
