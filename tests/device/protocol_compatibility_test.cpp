// Bytes of versions before are understood: what devices keep, and what they are sent. compatibility/ has
// them, and the program that wrote them.

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "device/history/history_store.h"
#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "device/sample_messages.h"
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
  std::string bytes_of(const char* name) const { return read_file(path_of(name), 1 << 20).value(); }
  // Stores are opened where they may be written to.
  fs::path copy_of(const char* name) const {
    fs::copy_file(path_of(name), folder / name);
    fs::permissions(folder / name, fs::perms::owner_read | fs::perms::owner_write);
    return folder / name;
  }
  TempFolder folder;
};
// What versions from one on have beside: of an earlier one nothing of it was written down.
class VersionWithRows : public VersionBefore {};
class VersionWithMessages : public VersionBefore {};
constexpr std::string_view first_with_rows = "2026-11-18", first_with_messages = "2026-11-19";

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

// What the bytes say, written again.
using ReadAndWrite = std::function<std::string(const std::string& bytes)>;
template <class Decode>
ReadAndWrite again(Decode decode) {
  return [decode](const std::string& bytes) {
    auto read = decode(bytes);
    return read ? encode(*read) : read.error().message;
  };
}
template <class Decode>
ReadAndWrite again_in_sum(Decode decode) {
  return [decode](const std::string& bytes) {
    auto read = decode(rounds::as_bytes(bytes));
    return read ? std::string(as_text(encode(*read))) : read.error().message;
  };
}

const std::map<std::string, ReadAndWrite> readers = {
    {"enrolment", again(rounds::decode_enrolment)},
    {"check_in", again(rounds::decode_check_in)},
    {"group_place", again(rounds::decode_group_place)},
    {"group_invitation", again(rounds::decode_group_invitation)},
    {"consent", again(decode_consent)},
    {"key_change",
     [](const std::string& bytes) {
       const auto read = rounds::open_key_change(bytes);
       return read ? rounds::sign_key_change(read->change, rounds::operator_key()).value()
                   : read.error().message;
     }},
    {"operator_keys",
     [](const std::string& bytes) {
       const auto read = rounds::OperatorKeys::decode(bytes);
       return read ? read->encode() : read.error().message;
     }},
    {"invitation", again_in_sum(secagg::decode_invitation)},
    {"advertisement", again_in_sum(secagg::decode_advertisement)},
    {"roster",
     again_in_sum([](auto bytes) { return secagg::decode_roster(bytes, testing::sample_clients); })},
    {"dealt_shares",
     again_in_sum([](auto bytes) { return secagg::decode_dealt_shares(bytes, testing::sample_clients); })},
    {"delivered_shares", again_in_sum([](auto bytes) {
       return secagg::decode_delivered_shares(bytes, testing::sample_clients);
     })},
    {"arrivals",
     again_in_sum([](auto bytes) { return secagg::decode_arrivals(bytes, testing::sample_clients); })},
    {"arrivals_signature", again_in_sum(secagg::decode_arrivals_signature)},
    {"unmask_request",
     again_in_sum([](auto bytes) { return secagg::decode_unmask_request(bytes, testing::sample_clients); })},
    {"revealed_shares",
     again_in_sum([](auto bytes) { return secagg::decode_revealed_shares(bytes, testing::sample_clients); })},
    // The one that is read where it lies.
    {"masked_vector", [](const std::string& bytes) {
       const auto terms = rounds::terms_of(rounds::small_campaign()).value();
       const secagg::VectorShape shape{terms.plan.entries(), terms.plan.modulus().bits()};
       const auto read = secagg::decode_masked_vector(rounds::as_bytes(bytes), shape);
       if (!read) return read.error().message;
       const auto vector = secagg::RingVector::zeros(shape.entries, shape.bits).value();
       return std::string(as_text(secagg::encode_masked(read->transcript, vector, read->signature).value()));
     }}};

TEST_P(VersionWithMessages, WhatTheCoordinatorAndDevicesSayIsReadAndWrittenAlike) {
  for (const auto& [name, read_and_write] : readers) {
    ASSERT_TRUE(fs::exists(path_of(name.c_str()))) << name;
    EXPECT_EQ(read_and_write(bytes_of(name.c_str())), bytes_of(name.c_str())) << name;
  }
}

// So that the next version has all of it.
TEST(Compatibility, EveryMessageThatIsWrittenDownIsRead) {
  for (const auto& [name, bytes] : testing::sample_messages()) {
    ASSERT_TRUE(readers.contains(name)) << name;
    EXPECT_EQ(readers.at(name)(bytes), bytes) << name;
  }
  EXPECT_EQ(testing::sample_messages().size(), readers.size());
}

// The first form of blobs is read, and written no more.
TEST_P(VersionBefore, BlobsSayWhatTheySaid) {
  EXPECT_EQ(rounds::decode_model(bytes_of("model")).value(), rounds::plain_version());
  EXPECT_EQ(rounds::decode_items(bytes_of("items")).value(), rounds::plain_table());
}

TEST_P(VersionWithRows, BlobsOfEverythingSayWhatTheySaid) {
  EXPECT_EQ(rounds::decode_model(bytes_of("model_of_everything")).value(), rounds::full_version());
  EXPECT_EQ(rounds::decode_items(bytes_of("items_of_everything")).value(), rounds::full_table());
}

TEST_P(VersionWithRows, CampaignsOfTwoSumsHaveTheHashesTheyHad) {
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
}

TEST_P(VersionWithRows, RowsThatADeviceKeptAreThere) {
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

std::vector<std::string> versions_from(std::string_view first) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(versions))
    if (const std::string name = entry.path().filename(); entry.is_directory() && name >= first)
      names.push_back(name);
  return names;
}

// Not one of the tests above may be without anything to read.
TEST(Compatibility, AVersionBeforeHasAllOfIt) {
  for (const std::string_view first : {first_with_rows, first_with_messages})
    EXPECT_TRUE(fs::is_directory(versions / first)) << first;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& version) {
  std::string name = version.param;
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Versions, VersionBefore, ::testing::ValuesIn(versions_from("")), test_name);
INSTANTIATE_TEST_SUITE_P(Versions, VersionWithRows, ::testing::ValuesIn(versions_from(first_with_rows)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Versions, VersionWithMessages,
                         ::testing::ValuesIn(versions_from(first_with_messages)), test_name);

}  // namespace
}  // namespace sotto::device
