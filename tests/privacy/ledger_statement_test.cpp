// The statement says what was spent, on what, and what is left; a long life stays quick.

#include "privacy/ledger/ledger_statement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "ledger_fixture.h"
#include "privacy/ledger/ledger_record.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

class LedgerStatements : public LedgerTest {};

TEST_F(LedgerStatements, AddUpPerPurposeWindowAndCategory) {
  auto ledger = create(settings({lifetime(10, 1e-9), {BudgetWindow::day, std::nullopt, 2, 1e-9}}));
  Release labels{ReleasePurpose::labels, pure(0.5), std::vector<std::string>{"health"}, "impression"};
  Release open = serving(pure(1));
  open.reads = {"sports"};
  ASSERT_TRUE(ledger->charge(serving(pure(1)), noon));
  ASSERT_TRUE(ledger->charge(labels, noon + std::chrono::days{1}));
  ASSERT_TRUE(ledger->charge(open, noon + std::chrono::days{1}));
  const auto object = nlohmann::json::parse(to_json(*ledger->statement(noon + std::chrono::days{1})));
  EXPECT_EQ(object["ledger"], ledger->id());
  EXPECT_EQ(object["records"], 4);
  EXPECT_EQ(object["chain"], "verified");
  EXPECT_EQ(object["unit"], "user");
  EXPECT_EQ(object["adjacency"], "replace-one");
  EXPECT_EQ(object["adversary"], "server");
  EXPECT_EQ(object["requests"], "adaptive");
  EXPECT_EQ(object["not_sensitive"], nlohmann::json::array({"sports"}));
  EXPECT_NEAR(object["total"]["epsilon"], 1.5, 1e-6);
  EXPECT_EQ(object["total"]["charges"], 2);
  EXPECT_EQ(object["total"]["free"], 1);
  EXPECT_DOUBLE_EQ(object["budgets"][0]["spent"], 1.5);
  EXPECT_DOUBLE_EQ(object["budgets"][0]["left"], 8.5);
  EXPECT_TRUE(object["budgets"][0]["frees_up"].is_null());
  EXPECT_DOUBLE_EQ(object["budgets"][1]["spent"], 0.5) << "of that day only";
  EXPECT_EQ(object["budgets"][1]["frees_up"], "2026-03-16 00:00:00 UTC");
  const auto epsilon_of = [&](const char* list, const char* key, const char* what) -> double {
    for (const auto& line : object[list]) {
      if (line[key] == what) return line["epsilon"];
    }
    return -1;
  };
  EXPECT_NEAR(epsilon_of("purposes", "purpose", "serving"), 1, 1e-6);
  EXPECT_NEAR(epsilon_of("purposes", "purpose", "labels"), 0.5, 1e-6);
  EXPECT_NEAR(epsilon_of("purposes", "purpose", "training"), 0, 1e-6);
  EXPECT_NEAR(epsilon_of("categories", "category", "health"), 1.5, 1e-6);
  EXPECT_NEAR(epsilon_of("categories", "category", "politics"), 1, 1e-6);
  EXPECT_EQ(epsilon_of("categories", "category", "sports"), -1) << "never charged";
  // Of the day and the month around the statement, also where no budget counts them.
  ASSERT_EQ(object["windows"].size(), 2U);
  const auto& day = object["windows"][0];
  const auto& month = object["windows"][1];
  EXPECT_EQ(day["window"], "day");
  EXPECT_NEAR(day["epsilon"], 0.5, 1e-6) << "what was told yesterday is not of this day";
  EXPECT_NEAR(day["purposes"][1]["epsilon"], 0.5, 1e-6);
  EXPECT_NEAR(day["purposes"][2]["epsilon"], 0, 1e-6) << "a free answer costs nothing";
  EXPECT_EQ(month["window"], "month");
  EXPECT_NEAR(month["epsilon"], 1.5, 1e-6);
  EXPECT_NEAR(month["purposes"][2]["epsilon"], 1, 1e-6);
  const auto later = nlohmann::json::parse(to_json(*ledger->statement(noon + std::chrono::days{20})));
  EXPECT_EQ(later["windows"][1]["epsilon"], 0) << "another month";
  EXPECT_NEAR(later["total"]["epsilon"], 1.5, 1e-6);
}

TEST_F(LedgerStatements, CountRoundsByTheCampaignThatAskedForThem) {
  auto ledger = create(settings({lifetime(10, 1e-9)}));
  const auto round_of = [](std::uint8_t campaign, std::uint8_t round) {
    Release release{ReleasePurpose::training, pure(0.25), std::nullopt, "round"};
    release.round.emplace();
    release.round->campaign.fill(campaign);
    release.round->round.fill(round);
    return release;
  };
  for (const auto& release : {round_of(7, 1), round_of(8, 2), round_of(7, 3)})
    ASSERT_TRUE(ledger->charge(release, noon));
  const auto statement = *ledger->statement(noon);
  ASSERT_EQ(statement.campaigns.size(), 2U);
  EXPECT_EQ(statement.campaigns[0].campaign.substr(0, 4), "0707");
  EXPECT_EQ(statement.campaigns[0].rounds, 2U);
  EXPECT_EQ(statement.campaigns[1].rounds, 1U);
  EXPECT_NE(to_text(statement).find("2 rounds"), std::string::npos);
}

TEST_F(LedgerStatements, ReadTheSameFromTheFileAndAreReadable) {
  auto ledger = create(settings({lifetime(10)}));
  ASSERT_TRUE(ledger->charge(serving(pure(1)), noon));
  const auto read = read_statement(file(), noon);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(*ledger->statement(noon)));
  const std::string text = to_text(*read);
  for (const std::string& words :
       {ledger->id(), to_hex(*ledger->hash_at(2)), std::string("chain      verified"),
        std::string("not sensitive: sports"), std::string("1 × 1-DP")}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  put_bytes(file(), bytes_of(file()) + "torn");
  EXPECT_EQ(read_statement(file(), noon)->torn_bytes, 4U);
  EXPECT_EQ(bytes_of(file()).substr(bytes_of(file()).size() - 4), "torn") << "looking changes nothing";
}

TEST_F(LedgerStatements, ALifetimeOfTenThousandChargesOpensAndIsCharged) {
  LedgerSettings many = settings({lifetime(1e4), {BudgetWindow::day, std::nullopt, 1e3, 1e-6}});
  std::vector<std::string> names(100);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "category " + std::to_string(i);
  many.sensitivity = *SensitivitySettings::create(names);
  for (CategoryId i = 0; i < 100; ++i) many.budgets.push_back({BudgetWindow::lifetime, i, 1e4, 1e-6});
  std::string bytes;
  auto encoder = LogEncoder::begin(ledger_format, std::string(ledger_format.opening_bytes, 'i'), bytes);
  const auto append = [&](const LedgerRecord& record) { ASSERT_TRUE(encoder->add(encode(record), bytes)); };
  append(SettingsRecord{noon, many});
  for (int i = 0; i < 10'000; ++i) {
    const Release release = serving(i % 3 == 0 ? gaussian(4) : pure(0.01 * (1 + i % 7)), std::to_string(i));
    append(ChargeRecord{noon + std::chrono::hours{i}, *price(release, many)});
  }
  put_bytes(file(), bytes);
  const auto start = std::chrono::steady_clock::now();
  auto ledger = Ledger::open(file(), noon);
  ASSERT_TRUE(ledger) << ledger.error().message;
  const auto opened = std::chrono::steady_clock::now();
  EXPECT_EQ(ledger->records(), 10'001U);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ledger->charge(serving(gaussian(4)), noon));
  const auto charged = std::chrono::steady_clock::now();
  const auto seconds = [](auto span) { return std::chrono::duration<double>(span).count(); };
  RecordProperty("open_seconds", std::to_string(seconds(opened - start)));
  RecordProperty("charge_seconds", std::to_string(seconds(charged - opened) / 20));
}

}  // namespace
}  // namespace sotto::privacy
