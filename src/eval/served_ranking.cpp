#include "eval/served_ranking.h"

#include "base/interrupt.h"
#include "eval/interaction_evaluator.h"
#include "publish/factor_ranking.h"
#include "recipes/run_data.h"

namespace sotto::eval {

namespace {

metrics::HeldOutMetrics minus(metrics::HeldOutMetrics a, const metrics::HeldOutMetrics& b) {
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
    a.hits[c] -= b.hits[c];
    a.ndcg[c] -= b.ndcg[c];
  }
  return a;
}

metrics::HeldOutReport by_vectors(const publish::FactorRanking& ranking, const data::Dataset& dataset,
                                  const fl::InteractionData& data) {
  return evaluate_interactions(dataset, data, [&](const fl::TakeScores& take) {
    std::vector<data::ItemId> history;
    for (std::size_t user = 0; user < data.test.size() && !interrupted(); ++user) {
      history.clear();
      for (const std::uint64_t row : data.test[user].support.positive)
        history.push_back(dataset.interactions().items[row]);
      take(user, data.test[user].query, ranking.scores(history).data());
    }
  });
}

}  // namespace

Result<ServedRanking> evaluate_as_served(EvaluateJob job, const data::Dataset& dataset) {
  SOTTO_TRY(const auto seen, recipes::data_of_run(job.run, dataset));
  SOTTO_TRY(const auto factors, recipes::open_factors_run(job.run, seen));
  if (!factors)
    return bad_input(
        "{} is not served by vectors of items: its devices compute the model that 'sotto eval' tests, or "
        "'sotto serve' says why it serves none of it. Leave out --as-served",
        job.run.string());
  if (!seen.has_interactions())
    return bad_input(
        "--as-served compares rankings of all items on interactions, and {} has impressions alone: leave it "
        "out",
        dataset.name());
  SOTTO_TRY(const auto ranking, publish::FactorRanking::create(*factors));
  ServedRanking result;
  metrics::HeldOutReport difference;
  job.evaluate_held_out = [&](const data::Dataset& tested, const fl::InteractionData& data,
                              const recipes::ScoreTestUsers& score) {
    result.own = evaluate_interactions(tested, data, score);
    if (interrupted()) return result.own;
    const metrics::HeldOutReport served = by_vectors(ranking, tested, data);
    if (interrupted()) return result.own;
    result.served = served.mean;
    difference.users = served.users;
    difference.mean = result.difference = minus(served.mean, result.own.mean);
    for (std::size_t user = 0; user < served.each.size(); ++user)
      difference.each.push_back(minus(served.each[user], result.own.each[user]));
    return result.own;
  };
  SOTTO_TRY(const auto measured, evaluate_run(job, dataset));
  (void)measured;
  result.error = metrics::standard_errors(difference);
  return result;
}

}  // namespace sotto::eval
