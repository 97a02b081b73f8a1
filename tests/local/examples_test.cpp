#include "local/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::local {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

struct Pages {
  std::vector<ItemRow> history = {1, 2, 3}, shown = {10, 11, 12, 13, 14};
  std::vector<std::uint8_t> clicked = {0, 1, 0, 1, 0};
  std::vector<OwnImpression> impressions = {{{}, shown, clicked}, {history, shown, clicked}};

  std::vector<RankingExample> examples(const ExampleSettings& settings, std::uint64_t seed = 1) const {
    SeededRandom draws(seed, Purpose::negative_sampling);
    return examples_of(impressions, settings, draws).value();
  }
};

TEST(Examples, PutEachClickBeforeItemsOfItsPageThatWereNotClicked) {
  const Pages pages;
  const auto examples = pages.examples({.negatives = 2, .max_history = 2});
  ASSERT_EQ(examples.size(), 4U);
  EXPECT_THAT(examples[1].history, IsEmpty());
  EXPECT_THAT(examples[2].history, ElementsAre(2, 3));
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(examples[i].candidates.size(), 3U);
    EXPECT_EQ(examples[i].candidates[0], i % 2 == 0 ? 11U : 13U);
    EXPECT_NE(examples[i].candidates[1], examples[i].candidates[2]);
    EXPECT_THAT((std::vector<ItemRow>{10, 12, 14}),
                IsSupersetOf({examples[i].candidates[1], examples[i].candidates[2]}));
  }
}

TEST(Examples, RepeatWhatWasNotClickedWhereTooLittleWasShown) {
  const Pages pages;
  const auto examples = pages.examples({.negatives = 7});
  for (const RankingExample& example : examples)
    for (const ItemRow item : {10U, 12U, 14U})
      EXPECT_GE(std::count(example.candidates.begin(), example.candidates.end(), item), 2);
}

TEST(Examples, KeepTheLatestOfTooMany) {
  const Pages pages;
  const auto latest = pages.examples({.negatives = 3, .max_examples = 3});
  ASSERT_EQ(latest.size(), 3U);
  EXPECT_THAT(latest[0].history, IsEmpty());
  EXPECT_EQ(latest[0].candidates[0], 13U);
  EXPECT_EQ(latest[2].candidates[0], 13U);
}

TEST(Examples, LeaveOutPagesThatHaveNothingToRank) {
  Pages pages;
  const std::vector<std::uint8_t> all(5, 1), none(5, 0);
  pages.impressions = {{pages.history, pages.shown, all}, {pages.history, pages.shown, none}, {}};
  EXPECT_THAT(pages.examples({}), IsEmpty());
}

}  // namespace
}  // namespace sotto::local
