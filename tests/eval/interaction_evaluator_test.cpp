// The evaluator against a naive count, and against published reference rows on real data.

#include "eval/interaction_evaluator.h"

#include <gtest/gtest.h>

#include "data/importers/importers.h"
#include "fl/tiny_interactions.h"

namespace sotto::eval {
namespace {

constexpr std::size_t at_10 = 1;

// Any scores do: only the rows beside the model are looked at.
recipes::ScoreTestUsers no_model(const fl::InteractionData& data, const std::vector<float>& scores) {
  return [&](const fl::TakeScores& take) {
    for (std::size_t user = 0; user < data.test.size(); ++user)
      take(user, data.test[user].query, scores.data());
  };
}

TEST(InteractionEvaluator, RanksEachHeldOutItemAmongItemsNeverTouched) {
  const TempFolder folder;
  const data::Dataset dataset = fl::testing::tiny_ratings(folder, 60);
  const auto data = fl::prepare_interactions(dataset, {}, 1).value();
  std::vector<float> scores(dataset.item_count());
  for (std::size_t item = 0; item < scores.size(); ++item) scores[item] = static_cast<float>((item * 5) % 12);
  const metrics::HeldOutReport report = evaluate_interactions(dataset, data, no_model(data, scores));

  const auto& log = dataset.interactions();
  double hits5 = 0;
  for (const auto& user : data.test) {
    std::vector<bool> touched(dataset.item_count());
    for (auto row = log.user_offsets[user.support.user]; row < log.user_offsets[user.support.user + 1]; ++row)
      touched[log.items[row]] = true;
    double own = 0;
    for (const std::uint64_t row : user.query) {
      int above = 0;
      for (std::size_t item = 0; item < scores.size(); ++item)
        above += !touched[item] && scores[item] > scores[log.items[row]] ? 1 : 0;
      own += above < 5 ? 1 : 0;
    }
    hits5 += own / static_cast<double>(user.query.size());
  }
  EXPECT_NEAR(report.mean.hits[0], hits5 / static_cast<double>(data.test.size()), 1e-12);
  EXPECT_EQ(report.users, data.test.size());
  EXPECT_EQ(report.left_out, data.untested);
}

// Reference rows computed by an independent script on other random splits: they agree within the spread of
// splits.
void expect_rows(const metrics::HeldOutMetrics& found, const std::array<double, 4>& expected,
                 double tolerance) {
  for (std::size_t c = 0; c < expected.size(); ++c) EXPECT_NEAR(found.hits[c], expected[c], tolerance);
}

Result<data::Dataset> imported(const char* kind, const char* folder, const TempFolder& to) {
  const auto shared = shared_data_directory();
  if (!shared || !fs::exists(*shared / folder)) return bad_input("no real data");
  const auto report = data::import_dataset(kind, *shared / folder, to / "data", {});
  if (!report) return tl::unexpected(report.error());
  return data::Dataset::open(to / "data");
}

TEST(InteractionEvaluator, ReproducesTheTrivialRowsOfMovieLens) {
  const TempFolder folder;
  const auto dataset = imported("movielens", "ml-1m", folder);
  if (!dataset) GTEST_SKIP() << "MovieLens-1M is not here: " << dataset.error().message;
  const auto data = fl::prepare_interactions(*dataset, {}, 1).value();
  const std::vector<float> none(dataset->item_count(), 0);
  const metrics::HeldOutReport report = evaluate_interactions(*dataset, data, no_model(data, none));
  expect_rows(report.beside[0].metrics, {.072, .113, .174, .216}, 0.01);
  // A model that knows nothing ties all: k of all items unseen by the user.
  EXPECT_NEAR(report.mean.hits[at_10], 10.0 / 3750, 0.0005);
}

TEST(InteractionEvaluator, ReproducesTheTrivialRowsOfFrappe) {
  const TempFolder folder;
  const auto dataset = imported("frappe", "frappe", folder);
  if (!dataset) GTEST_SKIP() << "Frappe is not here: " << dataset.error().message;
  const std::vector<float> none(dataset->item_count(), 0);
  const auto log = fl::prepare_interactions(*dataset, {}, 1).value();
  // 190 test users: splits differ by several points.
  expect_rows(evaluate_interactions(*dataset, log, no_model(log, none)).beside[1].metrics,
              {.586, .622, .671, .693}, 0.06);
  fl::InteractionSettings settings;
  settings.rows = "distinct";
  const auto distinct = fl::prepare_interactions(*dataset, settings, 1).value();
  expect_rows(evaluate_interactions(*dataset, distinct, no_model(distinct, none)).beside[0].metrics,
              {.179, .255, .323, .375}, 0.06);
}

}  // namespace
}  // namespace sotto::eval
