#include "local/page_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace sotto::local {
namespace {

using ::testing::ElementsAre;

// Ranks items by their number.
class ByNumber final : public LocalTrainer {
 public:
  const Layout& layout() const override { return layout_; }
  EventUse reads() const override { return {.reads_rows = rows}; }
  Result<LocalUpdate> train(const RoundInputs&, const OwnEvents&, RandomSource&,
                            const Cancelled&) const override {
    return LocalUpdate{};
  }
  Result<std::vector<float>> rank(const RoundInputs&, const OwnEvents&, const RankingQuestion& question,
                                  RandomSource&, const Cancelled&) const override {
    std::vector<float> scores;
    for (const ItemRow item : question.items) scores.push_back(static_cast<float>(item));
    return scores;
  }
  bool rows = false;

 private:
  Layout layout_{std::vector<Layout::Part>{}};
};

struct Page {
  std::vector<ItemRow> history, shown;
  std::vector<std::uint8_t> clicked;
};

struct PageReader {
  explicit PageReader(std::vector<Page> seen) : pages(std::move(seen)) {
    for (const Page& page : pages) own.impressions.push_back({page.history, page.shown, page.clicked});
  }
  Result<PageNumbers> numbers(const HeldOutPages& rule, bool cancelled = false) {
    SeededRandom draws(1, Purpose::test);
    return evaluate_pages(trainer, {}, own, rule, draws, [&] { return cancelled; });
  }
  std::vector<Page> pages;
  OwnEvents own;
  ByNumber trainer;
};

// Held out by every rule: `one_in` 1 keeps all.
constexpr HeldOutPages every_page{1, 4};

TEST(HeldOutPages, AreAboutOneInSoManyAndTheSameInEveryRound) {
  std::vector<Page> seen;
  for (ItemRow i = 0; i < 5000; ++i) seen.push_back({{i % 7, i % 11}, {i, i + 1, i + 2}, {1, 0, 0}});
  const PageReader reader(std::move(seen));
  std::size_t held_out = 0;
  for (const OwnImpression& page : reader.own.impressions) held_out += is_held_out(page, 5) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(held_out), 1000, 5 * 28.3);
  EXPECT_EQ(without_held_out(reader.own, 5).impressions.size() + held_out, reader.own.impressions.size());
  EXPECT_EQ(without_held_out(reader.own, 0).impressions.size(), reader.own.impressions.size());
  // What was clicked does not choose.
  const std::vector<std::uint8_t> other = {0, 1, 1};
  for (OwnImpression page : reader.own.impressions) {
    const bool before = is_held_out(page, 5);
    page.clicked = other;
    EXPECT_EQ(is_held_out(page, 5), before);
  }
}

TEST(PageEvaluation, CountsPagesAndHowOftenClicksStandAboveTheRest) {
  PageReader best({{{}, {1, 9}, {0, 1}}});
  EXPECT_THAT(best.numbers(every_page).value(), ElementsAre(0.25F, 0.25F));
  PageReader worst({{{}, {1, 9}, {1, 0}}});
  EXPECT_THAT(worst.numbers(every_page).value(), ElementsAre(0.25F, -0.25F));
  PageReader even({{{}, {5, 5, 9, 1}, {1, 0, 0, 0}}});  // above one, below one, tied with one
  EXPECT_THAT(even.numbers(every_page).value(), ElementsAre(0.25F, 0.0F));
}

TEST(PageEvaluation, IsBoundedAndTakesTheLatestPages) {
  std::vector<Page> seen(6, Page{{}, {1, 9}, {1, 0}});
  for (std::size_t i = 2; i < 6; ++i) seen[i].clicked = {0, 1};
  PageReader reader(std::move(seen));
  EXPECT_THAT(reader.numbers(every_page).value(), ElementsAre(1.0F, 1.0F)) << "the first two are too old";
}

TEST(PageEvaluation, LeavesOutPagesWithoutAnOrderToJudgeAndThoseThatAreTrainedOn) {
  PageReader reader({{{}, {1, 9}, {0, 0}}, {{}, {1, 9}, {1, 1}}, {{}, {}, {}}});
  EXPECT_THAT(reader.numbers(every_page).value(), ElementsAre(0.0F, 0.0F));
  PageReader trained({{{}, {1, 9}, {0, 1}}});
  EXPECT_THAT(trained.numbers({0, 4}).value(), ElementsAre(0.0F, 0.0F));
}

TEST(PageEvaluation, RefusesRecipesThatRankNoPagesAndStopsWhenItIsTold) {
  PageReader reader({{{}, {1, 9}, {0, 1}}});
  EXPECT_EQ(reader.numbers(every_page, true).error().kind, ErrorKind::failed);
  EXPECT_EQ(reader.numbers({1, 0}).error().kind, ErrorKind::bad_input);
  reader.trainer.rows = true;
  EXPECT_EQ(reader.numbers(every_page).error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace sotto::local
