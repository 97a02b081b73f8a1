#include "eval/impression_evaluator.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/thread_pool.h"
#include "data/dataset_builder.h"
#include "eval/dot_rows.h"
#include "metrics/mean.h"

namespace sotto::eval {
namespace {

constexpr std::size_t item_count = 60;

// A small data set of random impressions in a directory that vanishes with the test.
class ImpressionEvaluator : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) /
        ("sotto_evaluator_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(getpid()));
    fs::create_directories(directory_);
    data::DatasetBuilder builder("small", "test");
    for (std::size_t i = 0; i < item_count; ++i) {
      const std::string id = "N" + std::to_string(i);
      builder.add_item({.id = id, .title = id});
    }
    SeededRandom random(21, Purpose::test);
    for (int i = 0; i < 700; ++i) {
      const data::UserId user = builder.user("U" + std::to_string(i % 50));
      const auto history = builder.add_history({});
      const auto shown = sample_without_replacement(
          item_count, 1 + static_cast<std::uint32_t>(uniform_below(random, 40)), random);
      std::vector<std::uint8_t> clicked(shown.size());
      for (auto& click : clicked) click = bernoulli(random, 0.15) ? 1 : 0;
      builder.add_impression(user, i, i % 3 == 0 ? data::Split::test : data::Split::train, history, 0, shown,
                             clicked);
    }
    ASSERT_TRUE(builder.write(directory_));
    auto opened = data::Dataset::open(directory_);
    ASSERT_TRUE(opened) << opened.error().message;
    dataset_ = std::make_unique<data::Dataset>(std::move(*opened));
    test_ = impressions_of_split(*dataset_, data::Split::test);
    ASSERT_FALSE(test_.empty());
  }
  void TearDown() override {
    set_thread_count(threads_);
    dataset_.reset();
    fs::remove_all(directory_);
  }

  // Small whole numbers: dot products are exact in any order of summation, and many tie.
  static std::vector<float> whole_numbers(std::size_t n, std::uint32_t stream) {
    SeededRandom random(22, Purpose::test, stream);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(uniform_below(random, 5)) - 2.0F;
    return values;
  }

  // One impression after the other, one product after the other.
  metrics::MeanImpressionMetrics naive(std::span<const float> items, std::span<const float> users,
                                       std::size_t d) const {
    metrics::MeanImpressionMetrics result;
    for (std::size_t position = 0; position < test_.size(); ++position) {
      const data::Impression impression = dataset_->impression(test_[position]);
      std::vector<float> scores;
      for (const data::ItemId item : impression.shown) {
        float score = 0;
        for (std::size_t k = 0; k < d; ++k) score += users[position * d + k] * items[item * d + k];
        scores.push_back(score);
      }
      const auto one = metrics::impression_metrics(scores, impression.clicked);
      if (!one) {
        ++result.left_out;
        continue;
      }
      ++result.counted;
      result.mean.auc += one->auc;
      result.mean.mrr += one->mrr;
      result.mean.ndcg5 += one->ndcg5;
      result.mean.ndcg10 += one->ndcg10;
    }
    for (double* sum : {&result.mean.auc, &result.mean.mrr, &result.mean.ndcg5, &result.mean.ndcg10}) {
      *sum /= static_cast<double>(result.counted);
    }
    return result;
  }

  static void expect_equal(const metrics::MeanImpressionMetrics& actual,
                           const metrics::MeanImpressionMetrics& expected) {
    EXPECT_EQ(actual.counted, expected.counted);
    EXPECT_EQ(actual.left_out, expected.left_out);
    EXPECT_NEAR(actual.mean.auc, expected.mean.auc, 1e-12);
    EXPECT_NEAR(actual.mean.mrr, expected.mean.mrr, 1e-12);
    EXPECT_NEAR(actual.mean.ndcg5, expected.mean.ndcg5, 1e-12);
    EXPECT_NEAR(actual.mean.ndcg10, expected.mean.ndcg10, 1e-12);
  }

  fs::path directory_;
  std::unique_ptr<data::Dataset> dataset_;
  std::vector<std::uint32_t> test_;
  int threads_ = thread_count();
};

TEST_F(ImpressionEvaluator, EqualsTheNaiveLoopForEveryDimension) {
  for (const std::size_t d : {std::size_t{1}, std::size_t{7}, std::size_t{16}, std::size_t{32},
                              std::size_t{50}, std::size_t{400}}) {
    const auto items = whole_numbers(item_count * d, 1), users = whole_numbers(test_.size() * d, 2);
    expect_equal(evaluate_impressions(*dataset_, test_, items, users, d), naive(items, users, d));
  }
}

TEST_F(ImpressionEvaluator, IsBitEqualForAnyNumberOfThreads) {
  const std::size_t d = 48;
  SeededRandom random(23, Purpose::test);
  std::vector<float> items(item_count * d), users(test_.size() * d);
  for (float& value : items) value = static_cast<float>(normal(random));
  for (float& value : users) value = static_cast<float>(normal(random));
  set_thread_count(1);
  const auto serial = evaluate_impressions(*dataset_, test_, items, users, d);
  set_thread_count(4);
  const auto parallel = evaluate_impressions(*dataset_, test_, items, users, d);
  EXPECT_EQ(serial.mean.auc, parallel.mean.auc);
  EXPECT_EQ(serial.mean.mrr, parallel.mean.mrr);
  EXPECT_EQ(serial.mean.ndcg5, parallel.mean.ndcg5);
  EXPECT_EQ(serial.mean.ndcg10, parallel.mean.ndcg10);
}

TEST_F(ImpressionEvaluator, CallbackSeesEachImpressionAtItsPlace) {
  std::vector<std::uint8_t> seen(test_.size(), 0);
  const auto perfect = evaluate_impressions(
      *dataset_, test_,
      [&](std::size_t position, const data::Impression& impression, std::span<float> scores) {
        ++seen[position];
        for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = impression.clicked[j];
      });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(test_.size()));
  EXPECT_EQ(perfect.mean.auc, 1.0);
  EXPECT_EQ(perfect.counted + perfect.left_out, test_.size());
  EXPECT_GT(perfect.left_out, 0U);  // some have no click
}

TEST_F(ImpressionEvaluator, LeavesOutImpressionsWhoseScoresAreNaN) {
  const std::vector<float> items(item_count, 1.0F);
  std::vector<float> users(test_.size(), 1.0F);
  const auto good = evaluate_impressions(*dataset_, test_, items, users, 1);
  std::fill(users.begin(), users.end(), std::numeric_limits<float>::quiet_NaN());
  const auto bad = evaluate_impressions(*dataset_, test_, items, users, 1);
  EXPECT_GT(good.counted, 0U);
  EXPECT_EQ(bad.counted, 0U);
  EXPECT_EQ(bad.left_out, test_.size());
}

// Too quick for a signal to be sent in time, as tests of whole commands do it.
TEST_F(ImpressionEvaluator, RanksNothingMoreOnceItIsInterrupted) {
  set_interrupted(true);
  const auto ranked = evaluate_impressions(
      *dataset_, test_, [&](std::size_t, const data::Impression&, std::span<float>) { ADD_FAILURE(); });
  set_interrupted(false);
  EXPECT_EQ(ranked.counted, 0U);
  EXPECT_EQ(ranked.left_out, 0U);
}

TEST_F(ImpressionEvaluator, OfNoImpressionsIsZero) {
  const std::vector<float> items(item_count, 1.0F);
  const auto none = evaluate_impressions(*dataset_, {}, items, {}, 1);
  EXPECT_EQ(none.counted, 0U);
  EXPECT_EQ(none.mean.auc, 0.0);
}

TEST_F(ImpressionEvaluator, PopularityReadsTrainingImpressionsOnly) {
  const auto rates = training_click_rates(*dataset_);
  metrics::ClickRates expected(item_count);
  for (const std::uint32_t i : impressions_of_split(*dataset_, data::Split::train))
    expected.add(dataset_->impression(i).shown, dataset_->impression(i).clicked);
  EXPECT_EQ(rates, expected.smoothed());
  expect_equal(evaluate_popularity(*dataset_, test_),
               naive(rates, std::vector<float>(test_.size(), 1.0F), 1));
}

TEST_F(ImpressionEvaluator, RandomHasExactlyHalfTheAuc) {
  const auto random = evaluate_random(*dataset_, test_);
  EXPECT_DOUBLE_EQ(random.mean.auc, 0.5);
  EXPECT_GT(random.mean.mrr, 0.0);
  EXPECT_LT(random.mean.ndcg10, 1.0);
}

TEST_F(ImpressionEvaluator, SplitsPartitionTheImpressions) {
  const auto train = impressions_of_split(*dataset_, data::Split::train);
  EXPECT_TRUE(impressions_of_split(*dataset_, data::Split::validation).empty());
  EXPECT_EQ(train.size() + test_.size(), dataset_->impression_count());
}

TEST(DotRows, AgreesWithDoublePrecisionOnUnalignedRows) {
  SeededRandom random(24, Purpose::test);
  for (std::size_t d = 1; d < 100; ++d) {
    std::vector<float> matrix(5 * d), user(d);
    for (float& value : matrix) value = static_cast<float>(normal(random));
    for (float& value : user) value = static_cast<float>(normal(random));
    const std::vector<std::uint32_t> rows = {4, 0, 0, 3, 1};
    std::vector<float> scores(rows.size());
    dot_rows(user.data(), matrix.data(), d, rows, scores.data());
    for (std::size_t j = 0; j < rows.size(); ++j) {
      double expected = 0;
      for (std::size_t k = 0; k < d; ++k) expected += static_cast<double>(user[k]) * matrix[rows[j] * d + k];
      EXPECT_NEAR(scores[j], expected, 1e-5 * static_cast<double>(d));
    }
  }
}

}  // namespace
}  // namespace sotto::eval
