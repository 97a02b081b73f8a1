#include "rounds/public_log.h"

#include <gtest/gtest.h>

#include "rounds/small_campaign.h"

namespace sotto::rounds {
namespace {

LogLeaf leaf(LeafKind kind, std::uint8_t number) {
  LogLeaf made{kind, {}};
  made.hash.fill(number);
  return made;
}

// Takes all records that append a leaf and returns them.
std::vector<std::string> append(PublicLog& log, const LogLeaf& what, UtcTime now = campaign_begin) {
  const auto records = log.records_for(what, coordinator_key(), now).value();
  for (const std::string& record : records) EXPECT_TRUE(log.take(record));
  return records;
}

PublicLog three_entries() {
  PublicLog log(coordinator_key().public_key());
  append(log, leaf(LeafKind::campaign, 1));
  append(log, leaf(LeafKind::model, 1));
  append(log, leaf(LeafKind::pack, 2));
  return log;
}

TEST(PublicLog, SignsAHeadForEveryEntry) {
  const PublicLog log = three_entries();
  ASSERT_TRUE(log.head());
  EXPECT_EQ(log.head()->head.size, 3U);
  EXPECT_EQ(log.head()->head.root, log.tree().root());
  EXPECT_EQ(log.frontier().root(), log.tree().root());
  EXPECT_TRUE(is_signed_by(*log.head(), coordinator_key().public_key()));
  EXPECT_FALSE(is_signed_by(*log.head(), operator_key().public_key()));
  EXPECT_EQ(log.find(leaf(LeafKind::model, 1)), 1U);
  EXPECT_FALSE(log.find(leaf(LeafKind::model, 2)));
}

TEST(PublicLog, KindsOfEntriesAreToldApart) {
  EXPECT_NE(leaf_hash(leaf(LeafKind::campaign, 1)), leaf_hash(leaf(LeafKind::model, 1)));
}

TEST(PublicLog, RefusesWhatIsThereAnotherOwnerAndAClockThatRunsBack) {
  const PublicLog log = three_entries();
  EXPECT_FALSE(log.records_for(leaf(LeafKind::model, 1), coordinator_key(), campaign_begin));
  EXPECT_FALSE(log.records_for(leaf(LeafKind::model, 5), operator_key(), campaign_begin));
  EXPECT_FALSE(
      log.records_for(leaf(LeafKind::model, 5), coordinator_key(), campaign_begin - std::chrono::seconds(1)));
}

TEST(PublicLog, RecordsThatDoNotFollowAreRefusedAndChangeNothing) {
  PublicLog log = three_entries();
  PublicLog other = three_entries();
  const auto forked = append(other, leaf(LeafKind::model, 8));
  const auto records = log.records_for(leaf(LeafKind::model, 7), coordinator_key(), campaign_begin).value();
  EXPECT_FALSE(log.take(records[1]));  // a head without its entry
  ASSERT_TRUE(log.take(records[0]));
  EXPECT_FALSE(log.is_complete());
  EXPECT_FALSE(log.take(records[0]));  // an entry without its head
  EXPECT_FALSE(log.take(forked[1]));   // the head of another list
  std::string bent = records[1];
  bent.back() = static_cast<char>(bent.back() ^ 1);
  EXPECT_FALSE(log.take(bent));
  EXPECT_FALSE(log.take(records[1] + "x"));
  EXPECT_TRUE(log.take(records[1]));
  EXPECT_TRUE(log.is_complete());
  EXPECT_EQ(log.head()->head.size, 4U);
}

TEST(PublicLog, KeepsOneCosignatureOfAWitnessForTheLastHead) {
  PublicLog log = three_entries();
  const LogHead before = log.head()->head;
  const HeadCosignature word{before, cosign_head(before, witness_key())};
  const std::string bytes = encode(word);
  EXPECT_EQ(encode(decode_cosignature(bytes).value()), bytes);
  const std::string record = log.record_for(word).value();
  ASSERT_TRUE(log.take(record));
  EXPECT_FALSE(log.record_for(word));
  EXPECT_FALSE(log.take(record));
  const std::vector<IdentityKey> named = {witness_key(0).public_key(), witness_key(1).public_key()};
  EXPECT_EQ(witnesses_of(*log.head(), named), 1U);
  // The owner's own signature is no witness's.
  const HeadCosignature forged{before, {named[1], log.head()->signature}};
  EXPECT_FALSE(log.record_for(forged));
  append(log, leaf(LeafKind::model, 7));
  EXPECT_FALSE(log.record_for(word));
  EXPECT_EQ(witnesses_of(*log.head(), named), 0U);
}

TEST(PublicLog, ProvesEntriesToWhoeverSawAnyPartOfIt) {
  PublicLog log(coordinator_key().public_key());
  std::vector<LogHead> heads;
  for (std::uint8_t i = 0; i < 20; ++i) {
    append(log, leaf(LeafKind::guide, i));
    heads.push_back(log.head()->head);
  }
  const IdentityKey owner = log.owner();
  for (std::uint8_t i = 0; i < 20; ++i) {
    for (const LogHead& seen : heads) {
      const LogProof proof = log.prove(leaf(LeafKind::guide, i), seen.size).value();
      EXPECT_EQ(encode(decode_proof(encode(proof)).value()), encode(proof));
      EXPECT_TRUE(check(proof, leaf(LeafKind::guide, i), owner, seen));
      EXPECT_FALSE(check(proof, leaf(LeafKind::pack, i), owner, seen));
      EXPECT_FALSE(check(proof, leaf(LeafKind::guide, i), operator_key().public_key(), seen));
      LogHead forked = seen;
      forked.root[7] ^= 1;
      EXPECT_FALSE(check(proof, leaf(LeafKind::guide, i), owner, forked));
      LogHead longer = seen;
      longer.size = 21;
      EXPECT_FALSE(check(proof, leaf(LeafKind::guide, i), owner, longer));
    }
    EXPECT_TRUE(check(log.prove(leaf(LeafKind::guide, i), 0).value(), leaf(LeafKind::guide, i), owner, {}));
  }
  EXPECT_FALSE(log.prove(leaf(LeafKind::guide, 30), 0));
  EXPECT_FALSE(log.prove(leaf(LeafKind::guide, 3), 21));
}

TEST(PublicLog, HeadsHaveOneEncoding) {
  PublicLog log = three_entries();
  SignedHead head = *log.head();
  head.cosignatures.push_back(cosign_head(head.head, witness_key()));
  const std::string bytes = encode(head);
  EXPECT_EQ(encode(decode_head(bytes).value()), bytes);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(decode_head(bytes.substr(0, cut))) << cut;
}

}  // namespace
}  // namespace sotto::rounds
