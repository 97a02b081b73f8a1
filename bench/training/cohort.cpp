#include <algorithm>
#include <functional>

#include "bench/benchmarks.h"
#include "bench/training/newsroom_models.h"

namespace sotto::bench {
namespace {

using torch::Tensor;

// MIND's shape as Efficient-FedRec reports it: 114 news are a reader's own, 1,320 those of 50 readers
// together. A newsroom of 1,500 news comes near to it.
constexpr std::size_t cohort = 50, own_news = 114;
constexpr std::int64_t newsroom_users = 2000, newsroom_news = 1500;

struct Measured {
  Tensor answer;
  double seconds = 0;
};

Result<Measured> measure(const std::function<Result<Tensor>()>& work) {
  const double start = wall_seconds();
  SOTTO_TRY(Tensor answer, work());
  return Measured{std::move(answer), wall_seconds() - start};
}

// One comparison: our way against both loops, which must give the same answer.
struct Comparison {
  std::string name;
  double tolerance;  // rounding, which local steps carry on
  std::function<Result<Tensor>()> ours;
  std::function<Result<Tensor>(fl::NewsTraining&)> loop;
};

Status compare(BenchNews& news, const Comparison& comparison, std::vector<BenchRow>& rows) {
  SOTTO_TRY(Measured ours, measure(comparison.ours));
  const std::pair<fl::NewsTraining*, const char*> loops[] = {
      {&news.straightforward(), "one padded libtorch user after another"},
      {&news.tuned(), "one user after another through our own model"}};
  for (const auto& [training, against] : loops) {
    SOTTO_TRY(const Measured loop, measure([&, training = training] { return comparison.loop(*training); }));
    SOTTO_TRY(const Measured again, measure(comparison.ours));
    ours.seconds = std::min(ours.seconds, again.seconds);
    const double difference =
        (ours.answer - loop.answer).norm().item<double>() / loop.answer.norm().item<double>();
    if (!(difference < comparison.tolerance))
      return failed("{}: the answers differ by {:.2g}, no comparison", comparison.name, difference);
    rows.push_back({comparison.name, ours.seconds, loop.seconds, loop.seconds / ours.seconds, "s", against});
  }
  return {};
}

Status compare_with(BenchHistories histories, std::vector<BenchRow>& rows) {
  SOTTO_TRY(const auto news, BenchNews::create(newsroom_users, newsroom_news, histories));
  const auto users = news->users_with(cohort, own_news);
  std::size_t held = 0;
  for (const data::UserId user : users) held += news->tuned().batch_of(1, {&user, 1}).items().size();
  const std::string of_users =
      fmt::format("{} users ({} news each, {} together, {})", cohort, held / cohort,
                  news->tuned().batch_of(1, users).items().size(),
                  histories == BenchHistories::growing ? "growing histories" : "one history per user");
  const fl::LocalEpochs local{2, 16, 0.05};
  const Tensor start = news->parameters().values().clone();
  // A server that collects: the sum, and for each user its own (their squares keep users apart in it).
  const auto collect = [&](Tensor& sum) {
    return [&sum](data::UserId, const fl::LocalGradient& own) -> Status {
      sum.add_(own.gradient * own.gradient.norm());
      return {};
    };
  };
  const auto one_by_one = [&](const std::function<fl::LocalGradient(data::UserId)>& work,
                              bool apart) -> Result<Tensor> {
    Tensor sum = torch::zeros_like(start);
    for (const data::UserId user : users) {
      news->parameters().values().copy_(start);  // every device receives the weights
      const Tensor own = work(user).gradient.clone();
      sum.add_(apart ? own * own.norm() : own);
    }
    return sum;
  };

  const Comparison summed{
      "summed gradient of " + of_users, 1e-4,
      [&]() -> Result<Tensor> {
        return news->tuned().cohort_gradient(1, users, fl::Weighting::samples).gradient.clone();
      },
      [&](fl::NewsTraining& training) {
        return one_by_one([&](data::UserId user) { return training.user_gradient(1, user); }, false);
      }};
  const Comparison apart{"each one's own gradient, " + of_users, 1e-4,
                         [&]() -> Result<Tensor> {
                           Tensor sum = torch::zeros_like(start);
                           SOTTO_CHECK(news->tuned().user_gradients(1, users, collect(sum)));
                           return sum;
                         },
                         [&](fl::NewsTraining& training) {
                           return one_by_one(
                               [&](data::UserId user) { return training.user_gradient(1, user); }, true);
                         }};
  const Comparison copies{
      "two local epochs on each one's own copy, " + of_users, 1e-3,
      [&]() -> Result<Tensor> {
        Tensor sum = torch::zeros_like(start);
        SOTTO_CHECK(news->tuned().users_epochs(1, users, local, collect(sum)));
        return sum;
      },
      [&](fl::NewsTraining& training) {
        return one_by_one([&](data::UserId user) { return training.user_epochs(1, user, local); }, true);
      }};
  for (const Comparison* comparison : {&summed, &apart, &copies})
    SOTTO_CHECK(compare(*news, *comparison, rows));
  return {};
}

}  // namespace

Result<std::vector<BenchRow>> bench_cohort() {
  std::vector<BenchRow> rows;
  for (const auto histories : {BenchHistories::one_per_user, BenchHistories::growing})
    SOTTO_CHECK(compare_with(histories, rows));
  return rows;
}

}  // namespace sotto::bench
