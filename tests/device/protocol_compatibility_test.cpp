// Bytes of versions before are understood: what devices keep, and what they are sent. compatibility/ has
// them, and the program that wrote them.

#include <gtest/gtest.h>

#include "device/history/history_store.h"
#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "device/small_pack.h"
#include "device/small_rows.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_statement.h"
#include "rounds/enrolment.h"
#include "rounds/round_messages.h"
#include "rounds/small_blobs.h"
#include "test_paths.h"

namespace sotto::device {
namespace {

const fs::path versions = fs::path(SOTTO_SOURCE_DIR) / "tests" / "device" / "compatibility";
const privacy::UtcTime then = rounds::campaign_begin + std::chrono::hours(1);

class VersionBefore : public ::testing::TestWithParam<std::string> {
 protected:
  fs::path path_of(const char* name) const { return versions / GetParam() / name; }
  bool has(const char* name) const { return fs::exists(path_of(name)); }
  std::string bytes_of(const char* name) const { return read_file(path_of(name), 1 << 20).value(); }
  // Stores are opened where they may be written to.
  fs::path copy_of(const char* name) const {
    fs::copy_file(path_of(name), folder / name);
    fs::permissions(folder / name, fs::perms::owner_read | fs::perms::owner_write);
    return folder / name;
  }
  TempFolder folder;
};

TEST_P(VersionBefore, DocumentsAreReadAndHaveTheHashesTheyHad) {
  const auto campaign = rounds::open_campaign(bytes_of("campaign"));
  ASSERT_TRUE(campaign) << campaign.error().message;
  EXPECT_TRUE(campaign->is_signed_by(rounds::operator_key().public_key()));
  EXPECT_EQ(sign_document(rounds::campaign_kind, encode(campaign->campaign), rounds::operator_key()),
            bytes_of("campaign"));
  EXPECT_TRUE(rounds::terms_of(campaign->campaign));
  const auto order = rounds::open_order(bytes_of("order"));
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_TRUE(order->is_signed_by(rounds::coordinator_key().public_key()));
  EXPECT_TRUE(rounds::check_order(order->order, *campaign));
  const auto token = rounds::open_token(bytes_of("token"));
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_TRUE(token->is_signed_by(rounds::operator_key().public_key()));
}

TEST_P(VersionBefore, MessagesOfRoundsAreReadAndWrittenAlike) {
  const auto offer = rounds::decode_offer(bytes_of("offer"));
  ASSERT_TRUE(offer) << offer.error().message;
  EXPECT_EQ(encode(*offer), bytes_of("offer"));
  EXPECT_TRUE(is_signed_by(offer->head, rounds::coordinator_key().public_key()));
  const auto page = rounds::decode_log_page(bytes_of("log_page"));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(encode(*page), bytes_of("log_page"));
  rounds::LogFrontier frontier;
  for (const rounds::LogLeaf& leaf : page->entries) frontier.append(rounds::leaf_hash(leaf));
  EXPECT_EQ(frontier.root(), offer->head.head.root);
  EXPECT_EQ(rounds::LogFrontier::decode(bytes_of("log_frontier")).value(), frontier);
}

// The first form of blobs is read, and written no more.
TEST_P(VersionBefore, BlobsSayWhatTheySaid) {
  EXPECT_EQ(rounds::decode_model(bytes_of("model")).value(), rounds::plain_version());
  EXPECT_EQ(rounds::decode_items(bytes_of("items")).value(), rounds::plain_table());
  if (!has("model_of_everything")) return;
  EXPECT_EQ(rounds::decode_model(bytes_of("model_of_everything")).value(), rounds::full_version());
  EXPECT_EQ(rounds::decode_items(bytes_of("items_of_everything")).value(), rounds::full_table());
}

TEST_P(VersionBefore, CampaignsOfTwoSumsHaveTheHashesTheyHad) {
  if (!has("campaign_of_two_sums")) GTEST_SKIP() << "it had none";
  const auto campaign = rounds::open_campaign(bytes_of("campaign_of_two_sums"));
  ASSERT_TRUE(campaign) << campaign.error().message;
  EXPECT_EQ(sign_document(rounds::campaign_kind, encode(campaign->campaign), rounds::operator_key()),
            bytes_of("campaign_of_two_sums"));
  EXPECT_EQ(rounds::terms_of(campaign->campaign, 2)->plan.settings().dimension, 36U);
}

TEST_P(VersionBefore, PacksAndQuestionsAreReadAndWrittenAlike) {
  const auto pack = decode_pack(bytes_of("pack"));
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(*pack, testing::small_pack(12));
  EXPECT_EQ(encode_pack(*pack).value(), bytes_of("pack"));
  const auto later = apply_delta(bytes_of("pack"), bytes_of("pack_delta"));
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(decode_pack(*later).value(), testing::small_pack(14));
  const auto request = decode_recommend_request(bytes_of("recommend_request"));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(encode(*request), bytes_of("recommend_request"));
  const auto answer = decode_recommend_answer(bytes_of("recommend_answer"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(encode(*answer), bytes_of("recommend_answer"));
}

TEST_P(VersionBefore, WhatADeviceKeptIsThere) {
  const auto history = HistoryStore::open(copy_of("history"));
  ASSERT_TRUE(history) << history.error().message;
  ASSERT_EQ(history->clicks().size(), 2U);
  EXPECT_EQ(history->clicks()[1].item, "N5");
  const auto pages = ImpressionStore::open(copy_of("impressions"));
  ASSERT_TRUE(pages) << pages.error().message;
  ASSERT_EQ(pages->impressions().size(), 1U);
  EXPECT_EQ(pages->impressions()[0], (StoredImpression{then, {"N1"}, {"N2", "N5"}, {0, 1}}));
  if (!has("rows")) return;
  const auto rows = RowStore::open(copy_of("rows"));
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->stored(), testing::small_rows(then));
}

TEST_P(VersionBefore, TheLedgerGoesOnWhereItWas) {
  auto ledger = privacy::Ledger::open(copy_of("ledger"), then, {.anchor = nullptr, .first_use = true});
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(ledger->records(), 2U);
  const auto before = ledger->statement(then);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->total.charges, 1U);
  rounds::Digest campaign{}, round{};
  campaign.fill(1);
  round.fill(3);
  ASSERT_EQ(ledger->rounds_of(campaign).size(), 1U);
  EXPECT_EQ(ledger->rounds_of(campaign).front(), round);
  const auto terms = rounds::terms_of(rounds::small_campaign());
  const auto charge = [&] {
    return ledger->charge({.purpose = privacy::ReleasePurpose::training,
                           .event = terms->event,
                           .reads = std::nullopt,
                           .about = "again",
                           .round = privacy::TrainingRound{campaign, round}},
                          then);
  };
  EXPECT_FALSE(charge()) << "a round is not paid twice, whoever wrote the first record";
  round.fill(4);
  EXPECT_TRUE(charge());
}

std::vector<std::string> all_versions() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(versions))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Versions, VersionBefore, ::testing::ValuesIn(all_versions()),
                         [](const auto& version) {
                           std::string name = version.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char letter) { return std::isalnum(letter) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace sotto::device
