// The newsroom is about as hard as MIND, and shaped like it, at any size.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "newsroom_fixture.h"

namespace sotto::data::newsroom {
namespace {

struct Size {
  std::int64_t users, news, seed;
};

class NewsroomDifficulty : public ::testing::TestWithParam<Size> {};

TEST_P(NewsroomDifficulty, IsThatOfMindAndMoreKnowledgeScoresHigher) {
  const Simulated newsroom = simulate(small_newsroom(GetParam().users, GetParam().news, GetParam().seed));
  const NewsroomOracle& oracle = newsroom.oracle;
  EXPECT_LT(oracle.popularity.auc, 0.60);
  EXPECT_GT(oracle.best.auc, 0.75);
  EXPECT_LT(oracle.best.auc, 0.85);
  EXPECT_GE(newsroom.shape.unseen_share, 0.25);

  EXPECT_GT(oracle.best.auc, oracle.history.auc);
  EXPECT_GT(oracle.history.auc, oracle.category.auc - 0.01);
  EXPECT_GT(oracle.best.auc, oracle.category.auc + 0.05) << "interest can be read off the category";
  EXPECT_GT(oracle.category.auc, oracle.popularity.auc);
  EXPECT_GT(oracle.true_appeal.auc, oracle.random.auc);
  EXPECT_GT(oracle.popularity.auc, oracle.random.auc - 0.04);
  EXPECT_DOUBLE_EQ(oracle.random.auc, 0.5);

  // Histories reveal most of what popularity does not; five hundred test impressions leave some chance.
  EXPECT_GT(oracle.share_of_attainable(oracle.history.auc), GetParam().users < 1'000 ? 0.60 : 0.68);
}

INSTANTIATE_TEST_SUITE_P(Sizes, NewsroomDifficulty,
                         ::testing::Values(Size{500, 400, 1}, Size{500, 400, 2}, Size{2'000, 2'000, 1},
                                           Size{10'000, 5'000, 1}),
                         [](const auto& param) {
                           return std::to_string(param.param.users) + "Users" +
                                  std::to_string(param.param.news) + "News" +
                                  std::to_string(param.param.seed);
                         });

class NewsroomShapeOfMind : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { newsroom_ = new Simulated(simulate(small_newsroom(4'000, 4'000, 3))); }
  static void TearDownTestSuite() { delete newsroom_; }
  static Simulated* newsroom_;
};
Simulated* NewsroomShapeOfMind::newsroom_ = nullptr;

TEST_F(NewsroomShapeOfMind, MeansAreNearThePublishedOnes) {
  const NewsroomShape& shape = newsroom_->shape;
  EXPECT_NEAR(shape.history_mean, 32, 4);
  EXPECT_NEAR(shape.history_median, 18, 3);
  EXPECT_NEAR(shape.shown_mean, 37, 3);
  EXPECT_NEAR(shape.clicks_mean, 1.5, 0.1);
  EXPECT_NEAR(shape.train_impressions_per_user, 3, 0.3);
}

TEST_F(NewsroomShapeOfMind, ImpressionSizesHaveALongTail) {
  std::vector<std::uint32_t> sizes;
  for_each_impression(newsroom_->chunks, [&](const ReaderChunk&, const RecordedImpression& impression) {
    sizes.push_back(impression.shown_count);
  });
  std::sort(sizes.begin(), sizes.end());
  EXPECT_GE(sizes.front(), 2U);
  EXPECT_NEAR(sizes[sizes.size() / 4], 10, 2);
  EXPECT_NEAR(sizes[sizes.size() / 2], 24, 3);
  EXPECT_GT(sizes.back(), 200U);
  EXPECT_LE(sizes.back(), 300U);
}

TEST_F(NewsroomShapeOfMind, EveryReaderIsRecordedAndSomeStartWithoutAHistory) {
  std::vector<bool> recorded(4'000, false);
  for_each_impression(newsroom_->chunks, [&](const ReaderChunk&, const RecordedImpression& impression) {
    recorded[impression.user] = true;
  });
  EXPECT_EQ(std::count(recorded.begin(), recorded.end(), true), 4'000);
  EXPECT_GT(newsroom_->shape.empty_history_share, 0.005);
  EXPECT_LT(newsroom_->shape.empty_history_share, 0.06);
}

TEST_F(NewsroomShapeOfMind, NothingIsShownBeforePublicationOrAfterBeingRead) {
  for_each_impression(newsroom_->chunks, [&](const ReaderChunk& chunk, const RecordedImpression& impression) {
    std::vector<std::uint32_t> read(chunk.history_of(impression).begin(), chunk.history_of(impression).end());
    std::sort(read.begin(), read.end());
    for (const std::uint32_t item : chunk.shown_in(impression)) {
      ASSERT_LT(newsroom_->world.items[item].published, impression.time);
      ASSERT_FALSE(std::binary_search(read.begin(), read.end(), item));
    }
  });
}

TEST_F(NewsroomShapeOfMind, HistoriesAreTheClicksSoFar) {
  for (const ReaderChunk& chunk : newsroom_->chunks)
    for (std::size_t i = 1; i < chunk.impressions.size(); ++i) {
      const RecordedImpression& before = chunk.impressions[i - 1];
      const RecordedImpression& now = chunk.impressions[i];
      if (before.user != now.user) continue;
      const auto clicked = chunk.clicked_in(before);
      ASSERT_LE(before.time, now.time);
      ASSERT_EQ(now.history_length,
                before.history_length + std::count(clicked.begin(), clicked.end(), std::uint8_t{1}));
    }
}

}  // namespace
}  // namespace sotto::data::newsroom
