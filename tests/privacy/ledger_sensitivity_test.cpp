// Price and noise follow from settings alone; only clicks that are not sensitive leave unprotected.

#include <gtest/gtest.h>

#include <array>

#include "ledger_fixture.h"
#include "privacy/ledger/ledger_record.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

class LedgerSensitivity : public LedgerTest {};

std::vector<std::uint64_t> unprotected(const std::vector<CategorisedClick>& history,
                                       const SensitivitySettings& settings) {
  const UnprotectedClicks clicks = UnprotectedClicks::from(history, settings);
  return {clicks.items().begin(), clicks.items().end()};
}

TEST(Sensitivity, OnlyKnownNonSensitiveCategoriesGoUnprotected) {
  const SensitivitySettings open = three_categories({"sports", "politics"});
  const std::vector<CategorisedClick> history = {{1, {sports_category}},
                                                 {2, {health_category}},
                                                 {3, {sports_category, health_category}},
                                                 {4, {sports_category, politics_category}},
                                                 {5, {}},
                                                 {6, {CategoryId{77}}},
                                                 {7, {politics_category}}};
  EXPECT_EQ(unprotected(history, open), (std::vector<std::uint64_t>{1, 4, 7}));
  EXPECT_TRUE(unprotected(history, three_categories({})).empty()) << "all is sensitive unless named";
}

TEST(Sensitivity, UnprotectedClicksDoNotShowThatOthersExist) {
  const std::vector<CategorisedClick> without = {{1, {sports_category}}, {7, {sports_category}}};
  const std::vector<CategorisedClick> with = {
      {2, {health_category}}, {1, {sports_category}}, {3, {}}, {7, {sports_category}}};
  EXPECT_EQ(unprotected(with, three_categories()), unprotected(without, three_categories()));
}

// A device as it should be written: what it reads is configured, what it charges follows. The histories
// differ in sensitive clicks only, so the two ledgers must hold the same records.
TEST_F(LedgerSensitivity, ChargesAreEqualWithAndWithoutSensitiveClicks) {
  const std::array<std::vector<CategorisedClick>, 2> histories = {
      {{{1, {sports_category}}},
       {{1, {sports_category}}, {2, {health_category}}, {3, {politics_category, health_category}}}}};
  std::array<std::vector<std::string>, 2> charges;
  std::array<std::vector<std::uint64_t>, 2> sent;
  for (std::size_t person = 0; person < 2; ++person) {
    auto ledger = Ledger::create(folder_ / std::to_string(person), settings({lifetime(5)}), noon, first_use);
    Release feed = serving(pure(0.5));
    Release sports = serving(pure(0.5), "sports page");
    sports.reads = {"sports"};
    for (const Release& release : {feed, sports}) {
      const auto receipt = ledger->charge(release, noon);
      ASSERT_TRUE(receipt);
      charges[person].push_back(encode(ChargeRecord{receipt->time(), *price(release, ledger->settings())}));
      if (receipt->is_free()) sent[person] = unprotected(histories[person], ledger->settings().sensitivity);
    }
    EXPECT_EQ(ledger->records(), 3U);
  }
  EXPECT_EQ(charges[0], charges[1]);
  EXPECT_EQ(sent[0], sent[1]);
  EXPECT_EQ(sent[0], std::vector<std::uint64_t>{1});
}

TEST_F(LedgerSensitivity, NonSensitiveReleasesAreFreeRecordedAndCoverNoMechanism) {
  auto ledger = create(settings({lifetime(0.5, 1e-9)}));
  Release sports = serving(pure(1));
  sports.reads = {"sports"};
  for (int i = 0; i < 3; ++i) {
    const auto receipt = ledger->charge(sports, noon);
    ASSERT_TRUE(receipt) << receipt.error().message;
    EXPECT_TRUE(receipt->is_free());
    EXPECT_TRUE(refused(receipt->covers(ReleasePurpose::serving, pure(1)), "not sensitive"));
  }
  EXPECT_EQ(ledger->records(), 4U);
  EXPECT_TRUE(ledger->charge(serving(pure(0.5)), noon)) << "nothing was spent";
}

TEST_F(LedgerSensitivity, MarkingACategoryTakesEffectAtOnce) {
  auto ledger = create(settings({lifetime(5)}));
  Release sports = serving(pure(1));
  sports.reads = {"sports"};
  EXPECT_TRUE(ledger->charge(sports, noon)->is_free());
  LedgerSettings closed = settings({lifetime(5)});
  closed.sensitivity = three_categories({});
  ASSERT_TRUE(ledger->change_settings(closed, noon));
  EXPECT_FALSE(ledger->charge(sports, noon)->is_free());
}

TEST(Sensitivity, RefusesBadCategories) {
  using Names = std::vector<std::string>;
  EXPECT_TRUE(refused(SensitivitySettings::create({}), "list of categories"));
  EXPECT_TRUE(refused(SensitivitySettings::create({"a", "a"}), "twice"));
  EXPECT_TRUE(refused(SensitivitySettings::create({""}), "printable"));
  EXPECT_TRUE(refused(SensitivitySettings::create({"a\nb"}), "\\x0a"));
  EXPECT_TRUE(refused(SensitivitySettings::create({"\xff"}), "\\xff"));
  EXPECT_TRUE(refused(SensitivitySettings::create({"a\xc2\x9b"}), "\\x9b"));
  EXPECT_TRUE(refused(SensitivitySettings::create({std::string(65, 'a')}), "1 to 64 bytes"));
  EXPECT_TRUE(refused(SensitivitySettings::create({"sports"}, {"sport"}), "did you mean \"sports\"?"));
  Names many(1025);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::to_string(i);
  EXPECT_TRUE(refused(SensitivitySettings::create(many), "too many"));
}

}  // namespace
}  // namespace sotto::privacy
